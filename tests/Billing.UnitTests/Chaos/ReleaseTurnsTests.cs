using Billing.Chaos.Faults;
using Billing.LocalStack;

namespace Billing.UnitTests.Chaos;

public sealed class ReleaseTurnsTests
{
    [Fact]
    public void A_service_runs_the_present_release_until_it_changes_over_and_again_after_the_next_change()
    {
        var turns = new ReleaseTurns("/other");

        var before = turns.ProgramsOf(ServiceRole.Proxy, 1);
        turns.Change(ServiceRole.Proxy, 1);
        var over = turns.ProgramsOf(ServiceRole.Proxy, 1);
        turns.Change(ServiceRole.Proxy, 1);

        Assert.Null(before);
        Assert.Equal("/other", over);
        Assert.Null(turns.ProgramsOf(ServiceRole.Proxy, 1));
    }

    [Fact]
    public void A_service_that_has_not_changed_over_keeps_its_release()
    {
        var turns = new ReleaseTurns("/other");

        turns.Change(ServiceRole.Proxy, 1);

        Assert.Null(turns.ProgramsOf(ServiceRole.Proxy, 2));
        Assert.Null(turns.ProgramsOf(ServiceRole.PaymentBackend, 1));
    }

    [Fact]
    public void Without_another_release_a_change_changes_nothing()
    {
        var turns = new ReleaseTurns(null);

        turns.Change(ServiceRole.Proxy, 1);

        Assert.Null(turns.ProgramsOf(ServiceRole.Proxy, 1));
    }
}
