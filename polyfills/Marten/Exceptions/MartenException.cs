namespace Marten.Exceptions;

public class MartenException : Exception
{
    public MartenException()
    {
    }

    public MartenException(string message)
        : base(message)
    {
    }

    public MartenException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
