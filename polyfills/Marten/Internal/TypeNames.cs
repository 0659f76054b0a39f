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

    private static bool StartsWord(string name, int index)
    {
        if (char.IsLower(name[index]))
        {
            return false;
        }

        return char.IsLower(name[index - 1]) || (index + 1 < name.Length && char.IsLower(name[index + 1]));
    }
}
