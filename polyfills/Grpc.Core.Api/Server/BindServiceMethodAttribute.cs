using System.Diagnostics.CodeAnalysis;

namespace Grpc.Core;

[AttributeUsage(AttributeTargets.Class)]
public class BindServiceMethodAttribute : Attribute
{
    private const DynamicallyAccessedMemberTypes FoundByReflection =
        DynamicallyAccessedMemberTypes.PublicMethods |
        DynamicallyAccessedMemberTypes.NonPublicMethods |
        DynamicallyAccessedMemberTypes.PublicProperties;

    public BindServiceMethodAttribute(
        [DynamicallyAccessedMembers(FoundByReflection)] Type bindType, string bindMethodName)
    {
        BindType = bindType;
        BindMethodName = bindMethodName;
    }

    [DynamicallyAccessedMembers(FoundByReflection)]
    public Type BindType { get; }

    public string BindMethodName { get; }
}
