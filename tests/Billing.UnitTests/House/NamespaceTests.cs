using System.Reflection;
using System.Reflection.Emit;

namespace Billing.UnitTests.House;

/// <summary>Within a project, the references between namespaces form no cycles, so that a lower namespace can be read
/// and used without the higher ones.</summary>
public sealed class NamespaceTests
{
    private const BindingFlags Everything =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static
        | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<short, OpCode> OpCodesByValue = typeof(OpCodes)
        .GetFields(BindingFlags.Public | BindingFlags.Static).Select(field => (OpCode)field.GetValue(null)!)
        .ToDictionary(code => code.Value);

    [Theory]
    [InlineData("Billing.Hosting")]
    [InlineData("Billing.Messaging")]
    [InlineData("Billing.Backends")]
    [InlineData("Billing.Webhooks")]
    [InlineData("Billing.Proxy")]
    [InlineData("Billing.Simulation")]
    [InlineData("Billing.Client")]
    [InlineData("Billing.Journals")]
    [InlineData("Billing.Auditing")]
    [InlineData("Billing.Operator")]
    [InlineData("Billing.Rpc")]
    [InlineData("Billing.LocalStack")]
    [InlineData("Billing.Chaos")]
    [InlineData("Billing.Misuse")]
    [InlineData("Billing.Reporting")]
    [InlineData("Billing.Measuring")]
    [InlineData("Billing.Cli")]
    public void Namespaces_of_a_project_refer_to_each_other_in_one_direction(string assembly)
    {
        var uses = Assembly.Load(assembly).GetTypes()
            .SelectMany(user =>
                Mentioned(user).Where(used => used.Assembly == user.Assembly).Select(used => (User: user, Used: used)))
            // Types of no namespace or of another's are the entry points of programs and types that compilers generate.
            .Where(use => IsOurs(use.User) && IsOurs(use.Used) && use.User.Namespace != use.Used.Namespace)
            .GroupBy(use => (From: use.User.Namespace!, To: use.Used.Namespace!))
            .ToDictionary(
                uses => uses.Key, uses => uses.Select(use => $"{use.User.Name} uses {use.Used.Name}").First());

        var cycles = (
            from use in uses
            where Reaches(uses.Keys, use.Key.To, use.Key.From)
            orderby use.Key
            select $"{use.Key.From} -> {use.Key.To}: {use.Value}").ToList();
        Assert.True(cycles.Count == 0, string.Join('\n', cycles));
    }

    private static bool IsOurs(Type type) => type.Namespace?.StartsWith("Billing.", StringComparison.Ordinal) == true;

    private static bool Reaches(IReadOnlyCollection<(string From, string To)> uses, string from, string to)
    {
        var (seen, open) = (new HashSet<string> { from }, new Queue<string>([from]));
        while (open.TryDequeue(out var at))
        {
            if (at == to)
            {
                return true;
            }
            foreach (var (_, next) in uses.Where(use => use.From == at && seen.Add(use.To)))
            {
                open.Enqueue(next);
            }
        }
        return false;
    }

    private static IEnumerable<Type> Mentioned(Type type)
    {
        var methods = type.GetMethods(Everything).Cast<MethodBase>().Concat(type.GetConstructors(Everything)).ToList();
        return type.GetFields(Everything).Select(field => field.FieldType)
            .Concat(type.GetInterfaces())
            .Append(type.BaseType ?? typeof(object))
            .Concat(methods.OfType<MethodInfo>().Select(method => method.ReturnType))
            .Concat(methods.SelectMany(method => method.GetParameters()).Select(parameter => parameter.ParameterType))
            .Concat(methods.SelectMany(Called))
            .SelectMany(Parts);
    }

    private static IEnumerable<Type> Parts(Type type) =>
        type.HasElementType ? Parts(type.GetElementType()!)
            : type.IsGenericType ? type.GetGenericArguments().SelectMany(Parts).Append(type)
            : [type];

    // The types in a method's instructions, and the declaring types of the members in them.
    private static IEnumerable<Type> Called(MethodBase method)
    {
        var code = method.GetMethodBody()?.GetILAsByteArray() ?? [];
        var typeArguments = method.DeclaringType!.IsGenericType ? method.DeclaringType.GetGenericArguments() : null;
        var methodArguments = method.IsGenericMethod ? method.GetGenericArguments() : null;
        for (var at = 0; at < code.Length;)
        {
            var instruction = OpCodesByValue[code[at] == 0xFE ? (short)((code[at] << 8) | code[at + 1]) : code[at]];
            at += instruction.Size;
            if (instruction.OperandType is OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType
                or OperandType.InlineTok)
            {
                var member = method.Module.ResolveMember(
                    BitConverter.ToInt32(code, at), typeArguments, methodArguments)!;
                yield return member as Type ?? member.DeclaringType!;
                foreach (var argument in member is MethodInfo { IsGenericMethod: true } generic
                    ? generic.GetGenericArguments()
                    : [])
                {
                    yield return argument;
                }
            }
            at += instruction.OperandType == OperandType.InlineSwitch
                ? 4 * (1 + BitConverter.ToInt32(code, at))
                : SizeOf(instruction.OperandType);
        }
    }

    private static int SizeOf(OperandType operand) => operand switch
    {
        OperandType.InlineNone => 0,
        OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
        OperandType.InlineVar => 2,
        OperandType.InlineI8 or OperandType.InlineR => 8,
        _ => 4,
    };
}
