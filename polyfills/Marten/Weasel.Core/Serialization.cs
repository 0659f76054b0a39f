namespace Weasel.Core;

public enum EnumStorage
{
    AsInteger,
    AsString,
}

public enum Casing
{
    Default,
    CamelCase,
    SnakeCase,
}

public interface ISerializer
{
    public EnumStorage EnumStorage { get; }

    public Casing Casing { get; }

    public string ToJson(object document);

    public T FromJson<T>(Stream stream);

    public object FromJson(Type type, Stream stream);
}
