using Billing.Backends.EventStore;
using Billing.UnitTests.Testing;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class CommandIdTests
{
    /// <summary>Computed by hand with sha256sum: stored events have these ids.</summary>
    [Theory]
    [InlineData("visa/acct-42", "01890a5d-ac96-774b-a14d-e96b949f36a5")]
    [InlineData("amex/acct-42", "01890a5d-ac96-774b-9037-e7980b87ccde")]
    public void Its_event_id_never_changes(string streamId, string expected) =>
        Assert.Equal(
            expected, new CommandId(Guid.Parse("01890a5d-ac96-774b-bcce-b302099a8057"), streamId).EventId.ToString());

    [Fact]
    public void An_event_id_begins_as_the_transaction_id_and_so_keeps_its_order() =>
        Ids.Holds(ids =>
        {
            var id = new CommandId(ids.One, "visa/" + ids.Account).EventId.ToString();

            Assert.Equal(ids.One.ToString()[..18], id[..18]);
            Assert.Contains(id[19], "89ab");
        });

    [Fact]
    public void Two_commands_have_two_event_ids() =>
        Ids.Holds(ids =>
        {
            Assert.NotEqual(new CommandId(ids.One, "visa/a").EventId, new CommandId(ids.One, "visa/b").EventId);
            Assert.Equal(
                ids.One == ids.Other,
                new CommandId(ids.One, "visa/a").EventId == new CommandId(ids.Other, "visa/a").EventId);
        });

    private static Gen<(Guid One, Guid Other, string? Account)> Ids { get; } =
        from one in ArbMap.Default.GeneratorFor<Guid>()
        from other in ArbMap.Default.GeneratorFor<Guid>()
        from account in ArbMap.Default.GeneratorFor<string?>()
        select (one, other, account);
}
