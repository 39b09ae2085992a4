import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.common.client.fireandforget.EPFireAndForgetQueryResult;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.util.ArrayList;
import java.util.List;

/**
 * Esper: a statement for each query that gives its matches, and a table of their counts and sums
 * by window. The statements are compiled once; each run has a runtime of its own with fresh state,
 * and is timed from the first event sent to the totals read.
 */
public final class EsperRival extends Rival {
    private Job job;
    private final Configuration configuration = new Configuration();
    private EPCompiled statements;
    private EPCompiled totals;
    private int runs;

    EsperRival() {
        configuration.getCommon().addEventType("Event", Event.class);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    }

    public static void main(String[] args) throws Exception {
        serve(new EsperRival(), args);
    }

    @Override
    void prepare(Job job) throws Exception {
        this.job = job;
        StringBuilder epl = new StringBuilder(Epl.TOTALS);
        for (Query query : job.queries) {
            epl.append(Epl.statements(query, job.longest(query.middle())));
        }
        CompilerArguments arguments = new CompilerArguments(configuration);
        statements = EPCompilerProvider.getCompiler().compile(epl.toString(), arguments);
        CompilerArguments reading = new CompilerArguments(configuration);
        reading.getPath().add(statements);
        totals = EPCompilerProvider.getCompiler().compileQuery("select * from Totals", reading);
    }

    @Override
    List<Total> run() throws Exception {
        EPRuntime runtime = EPRuntimeProvider.getRuntime("run" + runs++, configuration);
        try {
            runtime.getDeploymentService().deploy(statements);
            var service = runtime.getEventService();
            began();
            for (Event event : job.events) {
                service.sendEventBean(event, "Event");
            }
            EPFireAndForgetQueryResult read =
                    runtime.getFireAndForgetService().executeQuery(totals);
            List<Total> found = new ArrayList<>();
            for (var row : read.getArray()) {
                double count = ((Number) row.get("n")).doubleValue();
                double sum = ((Number) row.get("total")).doubleValue();
                found.add(new Total((String) row.get("query"), (Long) row.get("win"), count, sum));
            }
            ended();
            return found;
        } finally {
            runtime.destroy();
        }
    }
}
