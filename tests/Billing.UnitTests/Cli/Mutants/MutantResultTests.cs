using Billing.Cli.Mutants;

namespace Billing.UnitTests.Cli.Mutants;

public sealed class MutantResultTests
{
    [Fact]
    public void The_page_says_how_many_bugs_were_found_and_what_found_each()
    {
        var bug = new Mutant("a bug", "src/Backends/Ledger.cs", "right", "wrong");

        var page = MutantResult.Page(
            [
                new MutantResult(bug, IsFound: true, "simulation: a payment was lost", Seeds: 1),
                new MutantResult(bug with { Test = "Billing.UnitTests.Some" }, IsFound: true, "A_test", Seeds: 0),
                new MutantResult(bug, IsFound: false, "20 schedules", Seeds: 20),
            ],
            new DateOnly(2026, 1, 31));

        Assert.Equal(
            """
            # Planted bugs

            `./billing mutants` plants each bug of `eng/mutants.json` alone in a copy of the sources. The simulation
            or a named test must find it: 2 of 3 were found on 2026-01-31.

            | Planted bug | In | Found by | After |
            | --- | --- | --- | --- |
            | a bug | Ledger | simulation: a payment was lost | 1 schedule |
            | a bug | Ledger | A_test |  |
            | a bug | Ledger | **not found** 20 schedules | 20 schedules |

            """,
            page);
    }
}
