using System.Reflection;
using System.Text.RegularExpressions;
using Billing.Hosting;

namespace Billing.Testing;

/// <summary>The rules between the times and limits of the product, wherever they are declared.</summary>
public static partial class DeclaredRules
{
    private static readonly Assembly[] Assemblies =
        [
            .. new[] { "Hosting", "Messaging", "Proxy", "Backends", "Webhooks", "Rpc" }.Select(
                name => Assembly.Load("Billing." + name)),
        ];

    /// <summary>The types of settings, each with its section.</summary>
    public static IReadOnlyList<(Type Type, string Section)> Settings { get; } =
    [
        .. from type in Assemblies.SelectMany(assembly => assembly.GetTypes())
           where type.Name.EndsWith("Options", StringComparison.Ordinal) && type.GetConstructor([]) is not null
           let section = type.GetField("Section")?.GetRawConstantValue() as string
           where section is not null
           orderby section
           select (type, section),
    ];

    /// <summary>The rules between settings, and between settings and constants, with the default values.</summary>
    public static IReadOnlyList<(Type Type, Rule Rule)> OfSettings { get; } =
    [
        .. from settings in Settings
           let related = Activator.CreateInstance(settings.Type) as IRelatedSettings
           where related is not null
           from rule in related.Rules()
           select (settings.Type, rule),
    ];

    /// <summary>The rules between constants, and between constants and defaults.</summary>
    public static IReadOnlyList<Rule> OfConstants { get; } =
    [
        .. from type in Assemblies.SelectMany(assembly => assembly.GetTypes())
           let declared = type.GetProperty("Rules", BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static)
           where declared?.PropertyType == typeof(IReadOnlyList<Rule>) && type != typeof(DeclaredRules)
           orderby type.FullName
           from rule in (IReadOnlyList<Rule>)declared.GetValue(null)!
           select rule,
    ];

    /// <summary>Each setting of each rule, with a value that breaks the rule while the others have their
    /// defaults.</summary>
    public static IEnumerable<(Type Type, string Setting, string Value, Rule Rule)> Broken() =>
        from one in OfSettings
        from side in new[] { (one.Rule.Left.Name, IsLeft: true), (one.Rule.Right.Name, IsLeft: false) }
        let setting = Setting().Match(side.Name).Value
        where setting.Length > 0 && (side.IsLeft || one.Rule.Left.Value > Smallest(one.Rule))
        select (one.Type, setting, (one.Rule.Left.IsTime, side.IsLeft) switch
        {
            (true, true) => "9.00:00:00",
            (true, false) => "00:00:00.001",
            (false, true) => "2000000000",
            (false, false) => "1",
        }, one.Rule);

    private static decimal Smallest(Rule rule) => rule.Left.IsTime ? TimeSpan.TicksPerMillisecond : 1;

    [GeneratedRegex(@"Billing:\w+:\w+")]
    private static partial Regex Setting();
}
