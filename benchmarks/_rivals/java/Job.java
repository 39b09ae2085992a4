import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;

/** What is run: events in memory, queries, and how long a window is. */
public final class Job {
    final Event[] events;
    final List<Query> queries;
    final long within;

    private Job(Event[] events, List<Query> queries, long within) {
        this.events = events;
        this.queries = queries;
        this.within = within;
    }

    /** A folder with events.csv, queries.tsv and within.txt. */
    static Job read(Path folder) throws IOException {
        long within = Long.parseLong(Files.readString(folder.resolve("within.txt")).trim());
        Event[] events;
        try (var lines = Files.lines(folder.resolve("events.csv"))) {
            events = lines.map(line -> event(line, within)).toArray(Event[]::new);
        }
        var queries = Files.readAllLines(folder.resolve("queries.tsv"));
        return new Job(events, queries.stream().map(Query::of).toList(), within);
    }

    /** The most events of a type in a window. */
    int longest(String type) {
        var counts = new HashMap<Long, Integer>();
        for (Event event : events) {
            if (event.type.equals(type)) {
                counts.merge(event.win, 1, Integer::sum);
            }
        }
        return counts.values().stream().mapToInt(each -> each).max().orElse(1);
    }

    private static Event event(String line, long within) {
        String[] cells = line.split(",");
        long time = Long.parseLong(cells[0]);
        // intern: as if types were an enum
        return new Event(time, time / within, cells[1].intern(), Double.parseDouble(cells[2]));
    }
}
