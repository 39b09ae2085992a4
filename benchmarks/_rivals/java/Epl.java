import static java.util.stream.Collectors.joining;

import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** What is said to Esper: a statement that gives the matches of a query, and one that adds them up. */
final class Epl {
    /** What stands for the types and the name of a query; all at once, since one can be another. */
    private static final Pattern NAMES = Pattern.compile("'(A|B|C|NAME)'");

    // begin totals
    static final String TOTALS =
            """
            create schema Match(query string, win long, s double);
            @public create table Totals(
              query string primary key, win long primary key, n count(*), total sum(double));
            into table Totals
            select count(*) as n, sum(s) as total from Match group by query, win;
            """;
    // end totals

    /** `longest`: the most events that the middle of a match can have. */
    static String statements(Query query, int longest) {
        String text =
                switch (query.semantics()) {
                    case "skip-till-any-match" ->
                            query.kleene() ? ofEachLength(longest) : sequence(1);
                    case "skip-till-next-match" -> NEXT;
                    case "contiguous" -> CONTIGUOUS;
                    default -> throw new IllegalArgumentException(query.semantics());
                };
        return NAMES.matcher(text).replaceAll(found -> "'" + named(found.group(1), query) + "'");
    }

    private static String named(String place, Query query) {
        return switch (place) {
            case "A" -> query.start();
            case "B" -> query.middle();
            case "C" -> query.end();
            default -> query.name();
        };
    }

    /** Nothing repeats under skip-till-any-match, so there is a statement for each length. */
    private static String ofEachLength(int longest) {
        return IntStream.rangeClosed(1, longest).mapToObj(Epl::sequence).collect(joining());
    }

    // begin sequence
    private static String sequence(int length) {
        String middle = "-> every b%1$d=Event(type='B', win=a.win)";
        return """
                insert into Match
                select 'NAME' as query, a.win as win, %s as s from pattern [
                  every a=Event(type='A') %s -> every c=Event(type='C', win=a.win)];
                """
                .formatted(repeated("b%d.x", " + ", length), repeated(middle, " ", length));
    }
    // end sequence

    private static String repeated(String text, String between, int times) {
        return IntStream.rangeClosed(1, times)
                .mapToObj(text::formatted)
                .collect(joining(between));
    }

    // begin next
    static final String NEXT =
            """
            insert into Match
            select 'NAME' as query, a.win as win, b.x + coalesce(bs.sumOf(e => e.x), 0) as s
            from pattern [
              every a=Event(type='A') -> b=Event(type='B', win=a.win)
                -> (bs=Event(type='B', win=a.win) until c=Event(type='C', win=a.win))];
            """;
    // end next

    // begin contiguous
    static final String CONTIGUOUS =
            """
            insert into Match
            select 'NAME' as query, win, s from Event match_recognize (
              partition by win
              measures A.win as win, sum(B.x) as s
              all matches
              after match skip to next row
              pattern (A B+ C)
              define A as A.type = 'A', B as B.type = 'B', C as C.type = 'C');
            """;
    // end contiguous
}
