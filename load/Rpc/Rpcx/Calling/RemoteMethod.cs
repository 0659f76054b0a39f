using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>A method of a proxy, prepared for calls.</summary>
/// <param name="client">Sends the calls.</param>
/// <param name="number">The number that identifies the method in frames.</param>
/// <param name="name">Its public name, for messages.</param>
internal abstract class RemoteMethod(RpcxClient client, ushort number, string name)
{
    public ushort Number => number;

    public string Name => name;

    protected RpcxClient Client => client;

    /// <summary>Starts a call.</summary>
    /// <param name="arguments">The request and the options, as the proxy received them.</param>
    /// <returns>The task that the method returns.</returns>
    public abstract object Call(object?[] arguments);
}

internal sealed class RemoteMethod<TReply>(RpcxClient client, ushort number, string name) : RemoteMethod(client, number, name)
    where TReply : class, IMessage<TReply>, new()
{
    private readonly MessageParser<TReply> _parser = new(() => new TReply());

    public override object Call(object?[] arguments)
    {
        ArgumentNullException.ThrowIfNull(arguments[0], "request");
        var call = new PendingCall<TReply>(this, _parser, (IMessage)arguments[0]!);
        Client.Start(call, (RpcxCallOptions)arguments[1]!);
        return call.Task;
    }
}
