using System.Reflection;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>The services that a server publishes, by public name.</summary>
internal sealed class Publications
{
    private readonly Dictionary<string, Dictionary<string, ServerMethod>> _services = new(StringComparer.Ordinal);

    /// <summary>Publishes a service.</summary>
    /// <exception cref="ArgumentException">The interface is not a valid service, or its public name is already used.</exception>
    public void Add(Type service, object implementation, RpcxDispatch dispatch)
    {
        var contract = ServiceContract.Read(service);
        var methods = contract.Methods.ToDictionary(
            method => method.Name, method => Prepare(contract.Name, method, implementation, dispatch), StringComparer.Ordinal);
        if (!_services.TryAdd(contract.Name, methods))
        {
            throw new ArgumentException($"{service.FullName}: the public name '{contract.Name}' is published already.");
        }
    }

    /// <summary>Returns a published method; null if there is none.</summary>
    public ServerMethod? Find(string service, string method) => _services.GetValueOrDefault(service)?.GetValueOrDefault(method);

    private static ServerMethod Prepare(
        string service, MethodContract contract, object implementation, RpcxDispatch dispatch)
    {
        var handler = contract.Method.CreateDelegate(
            typeof(Func<,,>).MakeGenericType(contract.Request, typeof(RpcxCallOptions), contract.Method.ReturnType), implementation);
        return (ServerMethod)Activator.CreateInstance(
            typeof(ServerMethod<,>).MakeGenericType(contract.Request, contract.Reply),
            BindingFlags.Instance | BindingFlags.Public, null, [$"{service}/{contract.Name}", handler, dispatch], null)!;
    }
}
