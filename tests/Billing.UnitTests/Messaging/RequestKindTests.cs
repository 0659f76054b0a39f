using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.UnitTests.Messaging;

public sealed class RequestKindTests
{
    [Fact]
    public void Every_request_of_the_wire_contract_has_a_kind() => Assert.All(
        Command.Descriptor.Oneofs.Single(oneof => oneof.Name == "request").Fields,
        field =>
        {
            var command = new Command();
            field.Accessor.SetValue(command, Activator.CreateInstance(field.MessageType.ClrType)!);

            Assert.NotNull(RequestKinds.Of(command));
        });

    [Fact]
    public void A_command_without_a_request_has_no_kind() => Assert.Null(RequestKinds.Of(new Command()));
}
