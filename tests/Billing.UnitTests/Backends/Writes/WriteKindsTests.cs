using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.UnitTests.Backends.Writes;

public sealed class WriteKindsTests
{
    public static TheoryData<string> Requests => [.. RequestKinds.All.Select(kind => kind.Field.ToString())];

    [Theory]
    [MemberData(nameof(Requests))]
    public void A_request_of_the_write_side_has_a_kind_and_another_has_none(string name)
    {
        var command = Members<Command>("request").Single(command => command.RequestCase.ToString() == name);
        if (RequestKinds.Of(command)!.IsWrite)
        {
            Assert.Equal(command.RequestCase, WriteKinds.Of(command).Field);
        }
        else
        {
            Assert.Throws<ArgumentException>(() => WriteKinds.Of(command));
        }
    }

    [Fact]
    public void Every_event_of_the_wire_contract_has_a_kind() =>
        Assert.All(Members<Event>("fact"), recorded => Assert.Equal(recorded.FactCase, WriteKinds.Of(recorded)!.Field));

    [Fact]
    public void Every_event_of_the_domain_has_a_kind() => Assert.Equal(
        typeof(AccountEvent).Assembly.GetTypes()
            .Where(type => type.IsSubclassOf(typeof(AccountEvent)) && !type.IsAbstract).OrderBy(type => type.Name),
        WriteKinds.Events.Select(kind => kind.Shape).OrderBy(type => type.Name));

    /// <summary>Messages that contain one member of a oneof each, empty.</summary>
    private static List<T> Members<T>(string oneof)
        where T : IMessage, new() =>
        new T().Descriptor.Oneofs.Single(o => o.Name == oneof).Fields.Select(field =>
        {
            var message = new T();
            field.Accessor.SetValue(message, field.MessageType.Parser.ParseFrom([]));
            return message;
        }).ToList();
}
