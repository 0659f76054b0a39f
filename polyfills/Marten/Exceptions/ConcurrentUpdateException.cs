namespace Marten.Exceptions;

public class ConcurrentUpdateException : MartenException
{
    public ConcurrentUpdateException(Exception innerException)
        : base("A concurrent transaction changed the same rows", innerException)
    {
    }
}
