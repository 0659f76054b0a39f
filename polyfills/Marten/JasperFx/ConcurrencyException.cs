namespace JasperFx;

public class ConcurrencyException : Exception
{
    public ConcurrencyException(Type docType, object id)
        : base(ToMessage(docType, id))
    {
        DocType = docType.FullName!;
        Id = id;
    }

    public ConcurrencyException(string message, Type? docType, object? id)
        : base(message)
    {
        DocType = docType?.FullName!;
        Id = id!;
    }

    public ConcurrencyException(string message)
        : base(message)
    {
    }

    public ConcurrencyException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    public string DocType { get; set; } = null!;

    public object Id { get; set; } = null!;

    public static string ToMessage(Type docType, object id)
    {
        ArgumentNullException.ThrowIfNull(docType);
        return $"Optimistic concurrency check failed for {docType.FullName} #{id}";
    }
}
