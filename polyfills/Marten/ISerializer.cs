namespace Marten;

public interface ISerializer : Weasel.Core.ISerializer
{
}
