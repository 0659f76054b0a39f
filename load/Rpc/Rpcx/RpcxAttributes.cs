namespace Billing.Rpc.Rpcx;

/// <summary>Marks an interface as a service that can be called over RPCX. Both sides use the same interface, or two
/// with the same public names.</summary>
/// <param name="name">The public name.</param>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class RpcxServiceAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}

/// <summary>Gives a method of a service its public name. The method must be of the form <c>Task&lt;TReply&gt;
/// Name(TRequest request)</c> with Google.Protobuf messages.</summary>
/// <param name="name">The public name, unique within the service.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class RpcxMethodAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}
