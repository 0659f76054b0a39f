using System.Reflection;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx;

/// <summary>A method of a service, as its interface declares it, with its public name and the number
/// that frames carry.</summary>
internal sealed record MethodContract(MethodInfo Method, string Name, Type Request, Type Reply)
{
    /// <summary>The FNV-1a hash of the public name, so that the two sides need not agree on numbers first.</summary>
    public uint Number { get; } = Name.Aggregate(
        2_166_136_261, (hash, letter) => unchecked((hash ^ letter) * 16_777_619));
}

/// <summary>Reads the services that interfaces declare, once for each proxy and publication:
/// calls need no reflection.</summary>
internal static class ServiceContract
{
    /// <summary>Returns the methods of a service.</summary>
    /// <exception cref="ArgumentException">It is not a valid service; the message names the problem.</exception>
    public static IReadOnlyList<MethodContract> Read(Type type)
    {
        var service = type.GetCustomAttribute<RpcxServiceAttribute>()?.Name
            ?? throw new ArgumentException($"{type.FullName} is no interface with [RpcxService(\"name\")].");
        return [.. type.GetMethods().Select(method => Read(service, method))];
    }

    private static MethodContract Read(string service, MethodInfo method)
    {
        var name = method.GetCustomAttribute<RpcxMethodAttribute>()?.Name;
        var isForm = method.ReturnType.IsGenericType && method.ReturnType.GetGenericTypeDefinition() == typeof(Task<>)
            && IsMessage(method.ReturnType.GetGenericArguments()[0])
            && method.GetParameters() is [var request] && IsMessage(request.ParameterType);
        return name is not null && isForm
            ? new MethodContract(
                method, $"{service}/{name}", method.GetParameters()[0].ParameterType,
                method.ReturnType.GetGenericArguments()[0])
            : throw new ArgumentException(
                $"{method.DeclaringType!.FullName}.{method.Name} is not of the form [RpcxMethod(\"name\")] "
                + "Task<TReply> Name(TRequest request) with messages.");
    }

    private static bool IsMessage(Type type) => type.IsClass && typeof(IMessage).IsAssignableFrom(type);
}
