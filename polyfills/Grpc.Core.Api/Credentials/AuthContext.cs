using System.Text;

namespace Grpc.Core;

public class AuthContext
{
    private readonly Dictionary<string, List<AuthProperty>> _properties;

    public AuthContext(string? peerIdentityPropertyName, Dictionary<string, List<AuthProperty>> properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        PeerIdentityPropertyName = peerIdentityPropertyName;
        _properties = properties;
    }

    public bool IsPeerAuthenticated => PeerIdentityPropertyName is not null;

    public string? PeerIdentityPropertyName { get; }

    public IEnumerable<AuthProperty> PeerIdentity =>
        PeerIdentityPropertyName is null ? [] : _properties[PeerIdentityPropertyName];

    public IEnumerable<AuthProperty> Properties => _properties.Values.SelectMany(values => values);

    public IEnumerable<AuthProperty> FindPropertiesByName(string propertyName) =>
        _properties.TryGetValue(propertyName, out var values) ? values : [];
}

public class AuthProperty
{
    private readonly byte[] _bytes;

    private AuthProperty(string name, byte[] bytes)
    {
        Name = name;
        _bytes = bytes;
    }

    public string Name { get; }

    public string Value => Encoding.UTF8.GetString(_bytes);

    public byte[] ValueBytes => [.. _bytes];

    public static AuthProperty Create(string name, byte[] valueBytes)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(valueBytes);
        return new AuthProperty(name, [.. valueBytes]);
    }
}
