using Google.Protobuf.Reflection;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Reflection;

/// <summary>
/// The services that this process offers and every file that they need, by file name and by symbol. Immutable; created
/// once, at startup.
/// </summary>
public sealed class DescriptorIndex
{
    private readonly Dictionary<string, FileDescriptor> _filesByName = new(StringComparer.Ordinal);
    private readonly Dictionary<string, FileDescriptor> _filesBySymbol = new(StringComparer.Ordinal);

    /// <summary>Indexes the services, the files that declare them, and their imports.</summary>
    /// <param name="services">The services to offer; list_services names these and no others.</param>
    public DescriptorIndex(IEnumerable<ServiceDescriptor> services)
    {
        ArgumentNullException.ThrowIfNull(services);
        var offered = services.DistinctBy(service => service.FullName).ToList();
        ServiceNames = [.. offered.Select(service => service.FullName).Order(StringComparer.Ordinal)];
        foreach (var service in offered)
        {
            AddFile(service.File);
        }
    }

    /// <summary>The full names of the services, in ordinal order.</summary>
    public IReadOnlyList<string> ServiceNames { get; }

    /// <summary>The file of this name, such as <c>billing/v1/billing.proto</c>; null if there is none.</summary>
    public FileDescriptor? FindFile(string name) => _filesByName.GetValueOrDefault(name);

    /// <summary>
    /// The file that declares a service, method, message, field, oneof, enum or enum value of this full name; null if
    /// there is none.
    /// </summary>
    public FileDescriptor? FindFileBySymbol(string symbol) => _filesBySymbol.GetValueOrDefault(symbol);

    /// <summary>A file and all of its direct and indirect imports, without duplicates, the file itself first.</summary>
    public static IReadOnlyList<FileDescriptor> WithImports(FileDescriptor file)
    {
        var found = new List<FileDescriptor> { file };
        for (int i = 0; i < found.Count; i++)
        {
            found.AddRange(found[i].Dependencies.Where(import => !found.Contains(import)));
        }

        return found;
    }

    private void AddFile(FileDescriptor file)
    {
        if (!_filesByName.TryAdd(file.Name, file))
        {
            return;
        }

        foreach (var service in file.Services)
        {
            AddSymbols(file, [service, .. service.Methods]);
        }

        foreach (var message in file.MessageTypes)
        {
            AddMessage(message);
        }

        foreach (var type in file.EnumTypes)
        {
            AddEnum(type);
        }

        foreach (var import in file.Dependencies)
        {
            AddFile(import);
        }
    }

    private void AddMessage(MessageDescriptor message)
    {
        AddSymbols(message.File, [message, .. message.Fields.InDeclarationOrder(), .. message.Oneofs]);
        foreach (var nested in message.NestedTypes)
        {
            AddMessage(nested);
        }

        foreach (var type in message.EnumTypes)
        {
            AddEnum(type);
        }
    }

    private void AddEnum(EnumDescriptor type) => AddSymbols(type.File, [type, .. type.Values]);

    private void AddSymbols(FileDescriptor file, IEnumerable<IDescriptor> symbols)
    {
        foreach (var symbol in symbols)
        {
            _filesBySymbol.TryAdd(symbol.FullName, file);
        }
    }
}
