using System.Collections.Concurrent;
using System.Reflection;
using NpgsqlTypes;

namespace Marten.Internal;

internal sealed class DocumentMappings
{
    private readonly ConcurrentDictionary<Type, DocumentMapping> _mappings = new();

    public ICollection<DocumentMapping> All => _mappings.Values;

    public DocumentMapping For(Type type) => _mappings.GetOrAdd(type, static key => new DocumentMapping(key));
}

/// <summary>The table of one document class.</summary>
internal sealed class DocumentMapping
{
    private readonly PropertyInfo _id;

    public DocumentMapping(Type type)
    {
        Type = type;
        TableName = $"mt_doc_{TypeNames.DocumentAlias(type)}";
        DotNetTypeName = TypeNames.DotNetName(type);
        _id = type.GetProperty("Id") ?? type.GetProperty("id") ?? type.GetProperty("ID")
            ?? throw new ArgumentException($"{type} has no property named Id", nameof(type));
        (IdColumnType, IdDbType) = Type.GetTypeCode(_id.PropertyType) switch
        {
            TypeCode.String => ("varchar", NpgsqlDbType.Varchar),
            TypeCode.Int32 => ("integer", NpgsqlDbType.Integer),
            TypeCode.Int64 => ("bigint", NpgsqlDbType.Bigint),
            _ when _id.PropertyType == typeof(Guid) => ("uuid", NpgsqlDbType.Uuid),
            _ => throw new NotSupportedException($"{type} has an id of type {_id.PropertyType}"),
        };
    }

    public Type Type { get; }

    public string TableName { get; }

    public string DotNetTypeName { get; }

    public string IdColumnType { get; }

    public NpgsqlDbType IdDbType { get; }

    public string PrimaryKeyName => $"pkey_{TableName}_id";

    public object IdOf(object document)
        => _id.GetValue(document) ?? throw new InvalidOperationException($"A document {Type} needs an id");

    /// <summary>The document's id; a Guid that was left empty is filled in.</summary>
    public object AssignId(object document)
    {
        var id = IdOf(document);
        switch (id)
        {
            case Guid guid when guid == Guid.Empty:
                guid = Guid.CreateVersion7();
                _id.SetValue(document, guid);
                return guid;
            case "":
                throw new InvalidOperationException($"A document {Type} needs an id");
            case 0 or 0L:
                throw new NotSupportedException($"Numbers are not given out as ids here; set that of {Type}");
            default:
                return id;
        }
    }

    /// <summary>The ids as an array of the type of the id, which the parameter's type is taken from.</summary>
    public Array IdArray(IReadOnlyList<object> ids)
    {
        var array = Array.CreateInstance(_id.PropertyType, ids.Count);
        for (var i = 0; i < ids.Count; i++)
        {
            if (ids[i].GetType() != _id.PropertyType)
            {
                throw new ArgumentException(
                    $"{Type} is identified by {_id.PropertyType}, not {ids[i].GetType()}",
                    nameof(ids));
            }

            array.SetValue(ids[i], i);
        }

        return array;
    }
}
