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
    public string ToJson(object document);
}
