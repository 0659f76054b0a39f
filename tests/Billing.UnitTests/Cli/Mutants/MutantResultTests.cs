using Billing.Cli.Mutants;

namespace Billing.UnitTests.Cli.Mutants;

public sealed class MutantResultTests
{
    [Fact]
    public void The_page_says_how_many_bugs_were_found_and_what_found_each()
    {
        var bug = new Mutant("a bug", "src/Backends/Ledger.cs", "right", "wrong");
        var other = bug with { File = "src/Proxy/Door.cs", Test = "Billing.UnitTests.Proxy.DoorTests" };

        var page = MutantResult.Page(
            [
                new MutantResult(bug, IsFound: true, "simulation: a payment was lost", Seeds: 1),
                new MutantResult(other, IsFound: true, "DoorTests.A_test", Seeds: 0),
                new MutantResult(bug, IsFound: true, "simulation: a payment was lost", Seeds: 7),
                new MutantResult(bug, IsFound: true, "simulation: exit code -1", Seeds: 0),
                new MutantResult(other with { Name = new string('a', 110) }, IsFound: true, "DoorTests.A_test", Seeds: 0),
                new MutantResult(bug, IsFound: false, "20 schedules", Seeds: 20),
            ],
            new DateOnly(2026, 1, 31));

        Assert.Equal(
            $"""
            # Planted bugs

            `./billing mutants` plants each bug of `eng/mutants.json` alone in a copy of the sources. The simulation must
            find it, or the named tests: 5 of 6 were found on 2026-01-31.

            ## Ledger

            - a bug: simulation, 1 schedule
            - a bug: simulation, 7 schedules
            - a bug: simulation: exit code -1
            - a bug: **not found** by 20 schedules

            ## Door

            - a bug: DoorTests
            - {new string('a', 110)}:
              DoorTests

            """,
            page);
    }
}
