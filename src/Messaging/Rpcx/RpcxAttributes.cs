namespace Billing.Messaging.Rpcx;

/// <summary>Makes an interface a service that can be called over RPCX, and gives it the name that travels: callers learn
/// nothing of the program's own names. Both sides use the same interface, or two with the same public names.</summary>
/// <param name="name">The public name, 1 to 200 characters.</param>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class RpcxServiceAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}

/// <summary>Gives a method of a service the name that travels. The method must be of the form
/// <c>Task&lt;TReply&gt; Name(TRequest request, RpcxCallOptions options)</c> with messages of Google.Protobuf.</summary>
/// <param name="name">The public name, 1 to 200 characters, unlike that of any other method of the service.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class RpcxMethodAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}
