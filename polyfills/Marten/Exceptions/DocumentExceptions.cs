namespace Marten.Exceptions;

public sealed class DocumentAlreadyExistsException : MartenException
{
    public DocumentAlreadyExistsException(Exception inner, Type docType, object id)
        : base($"There is a document {docType?.FullName} with the id {id} already", inner)
    {
        DocType = docType!;
        Id = id;
    }

    public Type DocType { get; }

    public object Id { get; }
}

public class NonExistentDocumentException : MartenException
{
    public NonExistentDocumentException(Type docType, object id)
        : base($"There is no document {docType?.FullName} with the id {id}")
    {
        DocType = docType!;
        Id = id;
    }

    public Type DocType { get; }

    public object Id { get; }
}
