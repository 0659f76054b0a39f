using System.Globalization;

namespace Billing.Measuring.Tracing;

/// <summary>A trace as a file of comma-separated values, one payment per line: <c>transaction_id</c>, <c>stream_id</c>,
/// <c>version</c>, <c>outcome</c>, and a column for each moment, such as <c>sent_unix_us</c>, in microseconds
/// since the Unix epoch and empty if unknown. Columns are found by name: they may be in any order, and other
/// columns are ignored.</summary>
public static class TraceFile
{
    private static readonly Moment[] Steps = Enum.GetValues<Moment>();
    private static readonly string[] Required =
    [
        "transaction_id", "stream_id", "version", "outcome", Column(Moment.Sent),
    ];

    /// <summary>Writes a trace, ordered by the times at which the payments were due.</summary>
    public static async Task WriteAsync(string path, IEnumerable<TracedPayment> payments)
    {
        await using var file = new StreamWriter(path);
        await file.WriteLineAsync("transaction_id,stream_id,version,outcome," + string.Join(',', Steps.Select(Column)));
        foreach (var payment in payments.OrderBy(p => p[Moment.Planned]))
        {
            var moments = Steps.Select(s => payment.Has(s) ? payment[s].ToString(CultureInfo.InvariantCulture) : "");
            await file.WriteLineAsync(string.Create(
                CultureInfo.InvariantCulture,
                $"{payment.TransactionId},{payment.StreamId},{payment.Version},{payment.Outcome},"
                    + $"{string.Join(',', moments)}"));
        }
    }

    /// <summary>Reads a trace.</summary>
    /// <exception cref="FormatException">The file is not a trace; the message names file, line and column.</exception>
    public static IReadOnlyList<TracedPayment> Read(string path)
    {
        using var lines = File.ReadLines(path).GetEnumerator();
        var headers = lines.MoveNext() ? lines.Current.Split(',') : [];
        if (Array.Find(Required, r => !headers.Contains(r)) is { } missing)
        {
            throw new FormatException($"{path}: not a trace: the header line does not name the column {missing}.");
        }
        var payments = new List<TracedPayment>();
        for (var number = 2; lines.MoveNext(); number++)
        {
            if (lines.Current.Length > 0)
            {
                payments.Add(new Line(path, number, headers, lines.Current.Split(',')).Read());
            }
        }
        return payments;
    }

    private static string Column(Moment step) => step.ToString().ToLowerInvariant() + "_unix_us";

    private sealed class Line(string path, int number, string[] headers, string[] fields)
    {
        public TracedPayment Read()
        {
            if (fields.Length != headers.Length)
            {
                throw new FormatException(
                    $"{path}:{number}: has {fields.Length} fields; the header line names {headers.Length} columns.");
            }
            var payment = new TracedPayment(
                Guid.TryParse(Field("transaction_id"), out var id) ? id : throw Bad("transaction_id"),
                Field("stream_id"), Number("version"), Field("outcome"));
            foreach (var step in Steps.Where(s => headers.Contains(Column(s))))
            {
                payment[step] = Number(Column(step));
            }
            return payment;
        }

        private string Field(string name) => fields[Array.IndexOf(headers, name)];

        private long Number(string name) =>
            Field(name).Length == 0 ? 0
            : long.TryParse(Field(name), NumberStyles.None, CultureInfo.InvariantCulture, out var value) ? value
            : throw Bad(name);

        private FormatException Bad(string name) => new($"{path}:{number}: invalid {name} '{Field(name)}'.");
    }
}
