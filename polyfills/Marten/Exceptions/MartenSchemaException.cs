namespace Marten.Exceptions;

public class MartenSchemaException : MartenException
{
    public MartenSchemaException(object subject, string ddl, Exception inner)
        : base($"The tables of '{subject}' could not be made:{Environment.NewLine}{ddl}", inner)
    {
    }
}
