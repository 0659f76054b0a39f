using Billing.Cli.Mutants;

namespace Billing.UnitTests.House;

/// <summary>The bugs that `./billing mutants` plants: a change of the sources must not leave one
/// without its place.</summary>
public sealed class MutantTests
{
    [Fact]
    public void Every_bug_to_plant_has_exactly_one_place() => Assert.Empty(
        from mutant in Mutant.ReadAll(Repository.Root)
        let places = File.ReadAllText(Path.Combine(Repository.Root, mutant.File)).Split(mutant.Find).Length - 1
        where places != 1
        select $"{mutant.Name}: {places} places in {mutant.File}");
}
