using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>A method of a proxy, prepared for calls.</summary>
internal abstract class RemoteMethod
{
    /// <summary>Starts a call.</summary>
    /// <param name="arguments">The request and the options, as the proxy received them.</param>
    /// <returns>The task that the method returns.</returns>
    public abstract object Call(object?[] arguments);
}

/// <inheritdoc/>
/// <param name="client">Sends the calls.</param>
/// <param name="number">The number that identifies the method in frames.</param>
/// <param name="name">Its public name, for messages.</param>
internal sealed class RemoteMethod<TRequest, TReply>(RpcxClient client, ushort number, string name) : RemoteMethod
    where TRequest : class, IMessage<TRequest>
    where TReply : class, IMessage<TReply>, new()
{
    /// <summary>Parser of the replies.</summary>
    public MessageParser<TReply> ReplyParser { get; } = new(() => new TReply());

    /// <summary>The number that identifies the method in frames.</summary>
    public ushort Number => number;

    /// <summary>The public name, for messages.</summary>
    public string Name => name;

    /// <inheritdoc/>
    public override object Call(object?[] arguments)
    {
        ArgumentNullException.ThrowIfNull(arguments[0], "request");
        return client.CallAsync(this, (TRequest)arguments[0]!, (RpcxCallOptions)arguments[1]!);
    }
}
