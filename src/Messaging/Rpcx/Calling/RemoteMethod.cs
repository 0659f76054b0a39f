using Google.Protobuf;

namespace Billing.Messaging.Rpcx.Calling;

/// <summary>A method of a proxy, ready to be called.</summary>
internal abstract class RemoteMethod
{
    /// <summary>Starts a call.</summary>
    /// <param name="arguments">The request and the options, as the proxy got them.</param>
    /// <returns>The task that the method returns.</returns>
    public abstract object Call(object?[] arguments);
}

/// <inheritdoc/>
/// <param name="client">Sends the calls.</param>
/// <param name="number">What stands for the method's name in a frame.</param>
/// <param name="name">Its public name, for messages.</param>
internal sealed class RemoteMethod<TRequest, TReply>(RpcxClient client, ushort number, string name) : RemoteMethod
    where TRequest : class, IMessage<TRequest>
    where TReply : class, IMessage<TReply>, new()
{
    /// <summary>Reads replies.</summary>
    public MessageParser<TReply> ReplyParser { get; } = new(() => new TReply());

    /// <summary>What stands for the method's name in a frame.</summary>
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
