using Billing.Cli.Mutants;

namespace Billing.UnitTests.Cli.Mutants;

public sealed class MutantResultTests
{
    [Fact]
    public void The_page_says_how_many_bugs_were_found_and_what_found_each()
    {
        var bug = new Mutant("a bug", "src/Backends/Ledger.cs", "right", "wrong");
        var other = bug with { File = "src/Proxy/Door.cs", Test = "Billing.UnitTests.Proxy" };
        var longName = new string('A', 90);

        var page = MutantResult.Page(
            [
                new MutantResult(bug, IsFound: true, "simulation: a payment was lost", Seeds: 7),
                new MutantResult(other, IsFound: true, "DoorTests.A_test", Seeds: 0),
                new MutantResult(bug, IsFound: true, "simulation: exit code -1", Seeds: 0),
                new MutantResult(bug, IsFound: true, "simulation: a payment was lost", Seeds: 1),
                new MutantResult(bug with { Name = "another bug" }, IsFound: false, "20 schedules", Seeds: 20),
                new MutantResult(other, IsFound: true, longName + ".A_test", Seeds: 0),
                new MutantResult(other, IsFound: true, "BellTests.A_test", Seeds: 0),
                new MutantResult(other, IsFound: true, "DoorTests.Another_test", Seeds: 0),
                new MutantResult(bug with { File = "src/Clock.cs" }, IsFound: true, "simulation: it is late", Seeds: 3),
            ],
            new DateOnly(2026, 1, 31));

        Assert.Equal(
            $"""
            # Planted bugs

            `./billing mutants` plants each bug of [mutants.json](../eng/mutants.json) alone in a copy of the sources.
            The simulation must find it, or the tests that it names: 8 of 9 were found on
            2026-01-31.

            - **Not found** by 20 schedules: another bug
            - Ledger: the simulation 3 (after 1 to 7 schedules)
            - Door: DoorTests 2, {longName} 1,
              BellTests 1
            - Clock: the simulation 1 (after 3 schedules)

            """,
            page);
    }
}
