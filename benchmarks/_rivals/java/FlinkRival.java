import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.Collector;

/**
 * Flink CEP: a pattern for each query over the events keyed by their window, and a sum of its
 * matches by window. One mini cluster for all runs; a run is timed from the first event that the
 * source gives to the end of the last operator, without the submission of the job.
 */
public final class FlinkRival extends Rival {
    private static Event[] events;
    private static final Queue<Total> FOUND = new ConcurrentLinkedQueue<>();

    private Job job;
    private MiniCluster cluster;

    public static void main(String[] args) throws Exception {
        serve(new FlinkRival(), args);
    }

    @Override
    void prepare(Job job) throws Exception {
        this.job = job;
        events = job.events;
        if (cluster != null) {
            return;
        }
        Configuration settings = new Configuration();
        settings.set(RestOptions.BIND_PORT, "0");
        settings.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(settings)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(1)
                                .build());
        cluster.start();
    }

    @Override
    List<Total> run() throws Exception {
        FOUND.clear();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        env.getConfig().enableObjectReuse();
        KeyedStream<Event, Long> stream = env.fromSource(source(), watermarks(), "events")
                .keyBy(event -> event.win, TypeInformation.of(Long.class));
        DataStream<Total> matches = null;
        for (Query query : job.queries) {
            DataStream<Total> more = CEP.pattern(stream, pattern(query, job.within))
                    .process(new Matched(query), TypeInformation.of(Total.class));
            matches = matches == null ? more : matches.union(more);
        }
        matches.keyBy(Total::getKey, TypeInformation.of(String.class))
                .window(TumblingEventTimeWindows.of(Duration.ofMillis(job.within)))
                .reduce(Total::plus)
                .process(new Kept())
                .sinkTo(new DiscardingSink<>());
        cluster.executeJobBlocking(env.getStreamGraph().getJobGraph());
        return new ArrayList<>(FOUND);
    }

    // begin pattern
    static Pattern<Event, ?> pattern(Query query, long within) {
        Pattern<Event, Event> start =
                Pattern.<Event>begin("a", AfterMatchSkipStrategy.noSkip()).where(is(query.start()));
        Pattern<Event, Event> end =
                switch (query.semantics()) {
                    case "skip-till-any-match" -> {
                        Pattern<Event, Event> b = start.followedByAny("b").where(is(query.middle()));
                        b = query.kleene() ? b.oneOrMore().allowCombinations() : b;
                        yield b.followedByAny("c");
                    }
                    case "skip-till-next-match" -> {
                        Pattern<Event, Event> b = start.followedBy("b").where(is(query.middle()));
                        if (!query.kleene()) {
                            yield b.followedBy("c");
                        }
                        // followedBy would let the loop be left at any event, so that every
                        // beginning of a trend matched too: all that is not C is taken, and what is
                        // not B is left out of the sum.
                        yield b.next("rest").where(not(query.end()))
                                .oneOrMore().consecutive().optional().next("c");
                    }
                    case "contiguous" -> {
                        Pattern<Event, Event> b = start.next("b").where(is(query.middle()));
                        b = query.kleene() ? b.oneOrMore().consecutive() : b;
                        yield b.next("c");
                    }
                    default -> throw new IllegalArgumentException(query.semantics());
                };
        return end.where(is(query.end())).within(Duration.ofMillis(within));
    }
    // end pattern

    private static SimpleCondition<Event> is(String type) {
        return SimpleCondition.of(event -> event.type.equals(type));
    }

    private static SimpleCondition<Event> not(String type) {
        return SimpleCondition.of(event -> !event.type.equals(type));
    }

    private static DataGeneratorSource<Event> source() {
        GeneratorFunction<Long, Event> next =
                index -> {
                    if (index == 0) {
                        began();
                    }
                    return events[index.intValue()];
                };
        return new DataGeneratorSource<>(next, events.length, TypeInformation.of(Event.class));
    }

    private static WatermarkStrategy<Event> watermarks() {
        return WatermarkStrategy.<Event>forMonotonousTimestamps()
                .withTimestampAssigner((event, before) -> event.time);
    }

    /** A match becomes a count of one and its sum. */
    private static final class Matched extends PatternProcessFunction<Event, Total> {
        private final Query query;

        Matched(Query query) {
            this.query = query;
        }

        @Override
        public void processMatch(
                Map<String, List<Event>> match, Context context, Collector<Total> out) {
            double sum = 0;
            for (Event event : match.get("b")) {
                sum += event.x;
            }
            for (Event event : match.getOrDefault("rest", List.of())) {
                sum += event.type.equals(query.middle()) ? event.x : 0;
            }
            out.collect(new Total(query.name(), match.get("a").get(0).win, 1, sum));
        }
    }

    private static final class Kept extends ProcessFunction<Total, Total> {
        @Override
        public void processElement(Total total, Context context, Collector<Total> out) {
            FOUND.add(total);
        }

        @Override
        public void close() {
            ended();
        }
    }
}
