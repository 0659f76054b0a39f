namespace Billing.Rpc.Rpcx;

/// <summary>Marks an interface as a service that can be called over RPCX, and gives it the name that is sent on the wire:
/// names in the program's code are not exposed. Both sides use the same interface, or two with the same public names.
/// </summary>
/// <param name="name">The public name, 1 to 200 characters.</param>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class RpcxServiceAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}

/// <summary>Gives a method of a service the name that is sent on the wire. The method must be of the form
/// <c>Task&lt;TReply&gt; Name(TRequest request, RpcxCallOptions options)</c> with Google.Protobuf messages.</summary>
/// <param name="name">The public name, 1 to 200 characters, unique within the service.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class RpcxMethodAttribute(string name) : Attribute
{
    /// <summary>The public name.</summary>
    public string Name { get; } = name;
}
