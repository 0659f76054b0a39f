using System.Reflection;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx;

/// <summary>A method of a service, as its interface declares it, with its public name.</summary>
internal sealed record MethodContract(MethodInfo Method, string Name, Type Request, Type Reply);

/// <summary>A service, as its interface declares it. It is read once, when a proxy is created or a service published, so that
/// calls need no reflection.</summary>
internal sealed record ServiceContract(string Name, IReadOnlyList<MethodContract> Methods)
{
    private const int NameLengthMax = 200;

    /// <exception cref="ArgumentException">It is not a valid service; the message names the problem.</exception>
    public static ServiceContract Read(Type type)
    {
        if (!type.IsInterface)
        {
            throw Error(type, "is not an interface");
        }
        var name = type.GetCustomAttribute<RpcxServiceAttribute>()?.Name ?? throw Error(type, "has no [RpcxService(\"name\")]");
        CheckName(name, problem => Error(type, "[RpcxService] " + problem));
        var methods = type.GetInterfaces().Prepend(type).SelectMany(t => t.GetMethods(
            BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic)).Select(Read).ToList();
        if (methods.Count == 0)
        {
            throw Error(type, "has no methods");
        }
        if (methods.GroupBy(m => m.Name, StringComparer.Ordinal).FirstOrDefault(same => same.Count() > 1) is { } clash)
        {
            throw Error(type, $"gives the public name '{clash.Key}' to {string.Join(" and ", clash.Select(m => m.Method.Name))}");
        }
        return new ServiceContract(name, methods);
    }

    private static MethodContract Read(MethodInfo method)
    {
        var name = method.GetCustomAttribute<RpcxMethodAttribute>()?.Name ?? throw Error(method, "has no [RpcxMethod(\"name\")]");
        CheckName(name, problem => Error(method, "[RpcxMethod] " + problem));
        var parameters = method.GetParameters();
        if (method.IsGenericMethodDefinition || method.IsStatic
            || parameters.Length != 2
            || parameters[1].ParameterType != typeof(RpcxCallOptions)
            || !method.ReturnType.IsGenericType
            || method.ReturnType.GetGenericTypeDefinition() != typeof(Task<>))
        {
            throw Error(method, "is not of the form Task<TReply> Name(TRequest request, RpcxCallOptions options)");
        }
        var reply = method.ReturnType.GetGenericArguments()[0];
        return new MethodContract(
            method, name, Message(method, parameters[0].ParameterType), Message(method, reply));
    }

    private static Type Message(MethodInfo method, Type type)
    {
        var isMessage = type.IsClass && !type.IsAbstract
            && type.GetInterfaces().Any(i => i.IsGenericType && i.GetGenericTypeDefinition() == typeof(IMessage<>)
                && i.GenericTypeArguments[0] == type)
            && type.GetConstructor(Type.EmptyTypes) is not null;
        return isMessage ? type : throw Error(method, $"takes or returns {type.Name}, which is not a Google.Protobuf message");
    }

    private static void CheckName(string name, Func<string, ArgumentException> error)
    {
        if (name.Length is 0 or > NameLengthMax)
        {
            throw error($"needs a name of 1 to {NameLengthMax} characters");
        }
    }

    private static ArgumentException Error(Type type, string problem) => new($"{type.FullName} {problem}.");

    private static ArgumentException Error(MethodInfo method, string problem) =>
        new($"{method.DeclaringType!.FullName}.{method.Name} {problem}.");
}
