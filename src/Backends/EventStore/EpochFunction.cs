namespace Billing.Backends.EventStore;

/// <summary>A PostgreSQL function of this project that an append calls first, in its transaction: it fails if an epoch has ended, and
/// otherwise keeps it from ending before the transaction does. So after a new owner of a partition has begun its epoch, nothing that a
/// former owner does can be stored any more, however late it comes: the fencing token of M. Kleppmann, Designing Data-Intensive
/// Applications, chapter 8.</summary>
internal static class EpochFunction
{
    /// <summary>The SQLSTATE of an append under an epoch that has ended; see <see cref="AppendFunction.StreamMoved"/>.</summary>
    public const string Ended = "23B02";

    /// <summary>The statement that calls it; its parameters are the topic, number and epoch of each partition.</summary>
    public static string Call(string schema) => $"select {schema}.hold_epochs(?, ?, ?)";

    /// <summary>The statement that creates the function if it is missing or different.</summary>
    public static string Sql(string schema) => StoredFunction.Sql(
        schema, "hold_epochs", [("topics", "varchar[]"), ("numbers", "integer[]"), ("epochs", "bigint[]")], $"""

        declare
            held bigint;
        begin
            perform from {EventStoreSchema.Epochs(schema)} p join unnest(topics, numbers, epochs) as o(topic, number, epoch)
                on p.topic = o.topic and p.number = o.number and p.epoch = o.epoch
            order by p.topic, p.number
            for share of p;
            get diagnostics held = row_count;
            if held < cardinality(topics) then
                raise exception 'A partition has a later owner.' using errcode = '{Ended}';
            end if;
        end
        """);
}
