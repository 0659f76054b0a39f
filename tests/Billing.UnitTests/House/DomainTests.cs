using System.Reflection;
using Billing.Backends.Domain;

namespace Billing.UnitTests.House;

/// <summary>The domain is pure: its decisions depend only on its arguments, and it references no brokers,
/// stores or servers.</summary>
public sealed class DomainTests
{
    private const BindingFlags Everything =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static
        | BindingFlags.DeclaredOnly;

    [Fact]
    public void The_files_of_the_domain_import_only_allowed_namespaces() => Assert.Empty(
        from file in Repository.Files("src/Backends/Domain", "*.cs")
        from line in Repository.Lines(file)
        where line.StartsWith("using ", StringComparison.Ordinal)
        let name = line["using ".Length..].TrimEnd(';')
        where !IsAllowed(name)
        select $"{file}: {name}");

    [Fact]
    public void The_types_of_the_domain_use_only_types_of_allowed_namespaces()
    {
        var domain = typeof(Account).Assembly.GetTypes().Where(t => t.Namespace == typeof(Account).Namespace).ToList();
        Assert.Contains(typeof(Payment), domain);
        Assert.Empty(domain.SelectMany(Mentioned).Where(t => !IsAllowed(t.Namespace ?? "")).Distinct());
    }

    private static bool IsAllowed(string name) =>
        name is "System" or "Billing.Backends.Domain" or "Billing.V1" or "Billing.Contracts"
        || name.StartsWith("System.", StringComparison.Ordinal);

    private static IEnumerable<Type> Mentioned(Type type)
    {
        var methods = type.GetMethods(Everything).Cast<MethodBase>().Concat(type.GetConstructors(Everything)).ToList();
        return type.GetFields(Everything).Select(f => f.FieldType)
            .Concat(type.GetInterfaces())
            .Append(type.BaseType ?? typeof(object))
            .Concat(methods.OfType<MethodInfo>().Select(m => m.ReturnType))
            .Concat(methods.SelectMany(m => m.GetParameters()).Select(p => p.ParameterType))
            .Concat(methods.SelectMany(m => m.GetMethodBody()?.LocalVariables ?? []).Select(v => v.LocalType))
            .SelectMany(t => t.IsGenericType ? t.GetGenericArguments().Append(t) : [t]);
    }
}
