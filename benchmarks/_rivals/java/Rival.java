import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** A system that runs a job whenever a line asks for it, and answers each time with a line. */
public abstract class Rival {
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

    // Static, since Flink makes copies of the functions that set them.
    private static volatile long beganWall, beganCpu, wall, cpu;

    /** Called when the first event is given to the system. */
    static void began() {
        beganCpu = SYSTEM.getProcessCpuTime();
        beganWall = System.nanoTime();
    }

    /** Called when the last answer is there. */
    static void ended() {
        wall = System.nanoTime() - beganWall;
        cpu = SYSTEM.getProcessCpuTime() - beganCpu;
    }

    /** Also instead of a job before. */
    abstract void prepare(Job job) throws Exception;

    /** Calls `began` and `ended`. */
    abstract List<Total> run() throws Exception;

    static void serve(Rival rival, String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // whatever a library prints is not an answer
        rival.prepare(Job.read(Path.of(args[0])));
        answers.println("{\"ready\":true}");
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("job ")) {
                rival.prepare(Job.read(Path.of(line.substring(4))));
                answers.println("{\"ready\":true}");
                continue;
            }
            List<Total> totals = rival.run();
            String rows = totals.stream().map(Total::json).collect(Collectors.joining(","));
            answers.println(
                    "{\"wall\":" + wall / 1e9 + ",\"cpu\":" + cpu / 1e9 + ",\"rows\":[" + rows + "]}");
        }
        System.exit(0); // mini clusters have threads that would keep the process
    }
}
