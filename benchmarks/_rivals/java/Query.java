import java.io.Serializable;

/** SEQ(start, middle, end) or SEQ(start, middle+, end), with COUNT(*) and SUM(middle.x). */
public record Query(
        String name, String semantics, String start, String middle, String end, boolean kleene)
        implements Serializable {

    static Query of(String line) {
        String[] cells = line.split("\t");
        return new Query(
                cells[0], cells[1], cells[2], cells[3], cells[4], cells[5].equals("kleene"));
    }
}
