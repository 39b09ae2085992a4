/** An event and the number of the window that holds it. Public fields: both systems read them so. */
public class Event {
    public long time;
    public long win;
    public String type;
    public double x;

    public Event() {}

    public Event(long time, long win, String type, double x) {
        this.time = time;
        this.win = win;
        this.type = type;
        this.x = x;
    }

    public long getTime() {
        return time;
    }

    public long getWin() {
        return win;
    }

    public String getType() {
        return type;
    }

    public double getX() {
        return x;
    }
}
