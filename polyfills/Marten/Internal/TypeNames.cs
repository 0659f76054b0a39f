using System.Text;

namespace Marten.Internal;

/// <summary>The names under which .NET types stand in the database.</summary>
internal static class TypeNames
{
    public const string DefaultTenant = "*DEFAULT*";

    public static string DotNetName(Type type) => $"{type.FullName}, {type.Assembly.GetName().Name}";

    /// <summary>"PaymentAcceptedV2" gives "payment_accepted_v2", "HTTPCall" gives "http_call".</summary>
    public static string SnakeCase(Type type)
    {
        if (type.IsGenericType)
        {
            throw new NotSupportedException($"Generic types are not covered: {type}");
        }

        var name = type.Name;
        var snake = new StringBuilder(name.Length + 8);
        for (var i = 0; i < name.Length; i++)
        {
            if (i > 0 && StartsWord(name, i))
            {
                snake.Append('_');
            }

            snake.Append(char.ToLowerInvariant(name[i]));
        }

        return snake.ToString();
    }

    /// <summary>The class name, after that of the class it is nested in, in lower case.</summary>
    public static string DocumentAlias(Type type)
    {
        if (type.IsGenericType)
        {
            throw new NotSupportedException($"Generic types are not covered: {type}");
        }

        var name = type.IsNested ? $"{type.DeclaringType!.Name}_{type.Name}" : type.Name;
        return string.Create(name.Length, name, static (lower, source) => source.AsSpan().ToLowerInvariant(lower));
    }

    private static bool StartsWord(string name, int index)
    {
        if (char.IsLower(name[index]))
        {
            return false;
        }

        return char.IsLower(name[index - 1]) || (index + 1 < name.Length && char.IsLower(name[index + 1]));
    }
}
