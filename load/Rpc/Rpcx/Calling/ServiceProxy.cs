using System.Collections.Frozen;
using System.Reflection;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>Base class of the generated proxies: it looks up the prepared method and calls it.</summary>
internal class ServiceProxy : DispatchProxy
{
    private FrozenDictionary<MethodInfo, RemoteMethod> _methods = FrozenDictionary<MethodInfo, RemoteMethod>.Empty;

    public static TService Create<TService>(IReadOnlyDictionary<MethodInfo, RemoteMethod> methods)
        where TService : class
    {
        var proxy = Create<TService, ServiceProxy>();
        ((ServiceProxy)(object)proxy)._methods = methods.ToFrozenDictionary();
        return proxy;
    }

    protected override object? Invoke(MethodInfo? targetMethod, object?[]? args) => _methods[targetMethod!].Call(args!);
}
