/** What a query found in a window. */
public class Total {
    public String query;
    public long window;
    public double count;
    public double sum;

    public Total() {}

    public Total(String query, long window, double count, double sum) {
        this.query = query;
        this.window = window;
        this.count = count;
        this.sum = sum;
    }

    public String getKey() {
        return query + "/" + window;
    }

    Total plus(Total other) {
        return new Total(query, window, count + other.count, sum + other.sum);
    }

    String json() {
        return "[\"" + query + "\"," + window + "," + count + "," + sum + "]";
    }
}
