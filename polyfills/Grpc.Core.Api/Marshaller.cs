using System.Text;

namespace Grpc.Core;

public class Marshaller<T>
{
    /// <summary>A marshaller of whole arrays; its contextual form is derived from it.</summary>
    public Marshaller(Func<T, byte[]> serializer, Func<byte[], T> deserializer)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        ArgumentNullException.ThrowIfNull(deserializer);
        Serializer = serializer;
        Deserializer = deserializer;
        ContextualSerializer = (message, context) => context.Complete(serializer(message));
        ContextualDeserializer = context => deserializer(context.PayloadAsNewBuffer());
    }

    /// <summary>A marshaller that works on the transport's buffers; it has no array form.</summary>
    public Marshaller(Action<T, SerializationContext> serializer, Func<DeserializationContext, T> deserializer)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        ArgumentNullException.ThrowIfNull(deserializer);
        Serializer = _ => throw new NotImplementedException();
        Deserializer = _ => throw new NotImplementedException();
        ContextualSerializer = serializer;
        ContextualDeserializer = deserializer;
    }

    public Func<T, byte[]> Serializer { get; }

    public Func<byte[], T> Deserializer { get; }

    public Action<T, SerializationContext> ContextualSerializer { get; }

    public Func<DeserializationContext, T> ContextualDeserializer { get; }
}

public static class Marshallers
{
    public static Marshaller<string> StringMarshaller => new(Encoding.UTF8.GetBytes, Encoding.UTF8.GetString);

    public static Marshaller<T> Create<T>(Func<T, byte[]> serializer, Func<byte[], T> deserializer) =>
        new(serializer, deserializer);

    public static Marshaller<T> Create<T>(
        Action<T, SerializationContext> serializer, Func<DeserializationContext, T> deserializer) =>
        new(serializer, deserializer);
}
