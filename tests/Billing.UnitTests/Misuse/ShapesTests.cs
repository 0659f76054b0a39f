using Billing.Misuse;
using Billing.Misuse.Attacks;
using Billing.Misuse.Connections;

namespace Billing.UnitTests.Misuse;

public sealed class ShapesTests
{
    private const int AtLeast = 100;

    [Fact]
    public void There_are_hundreds_of_shapes_and_each_has_a_name_of_its_own()
    {
        Assert.InRange(Shapes.All.Count, AtLeast, int.MaxValue);
        Assert.Equal(Shapes.All.Count, Shapes.All.Select(shape => shape.Name).Distinct().Count());
        Assert.All(Shapes.All, shape => Assert.Equal([shape], Shapes.Named(shape.Name)));
    }

    [Fact]
    public void Every_phase_front_and_credential_occurs()
    {
        Assert.Equal(Enum.GetValues<Phase>(), Shapes.All.Select(shape => shape.Attack.Phase).Distinct().Order());
        Assert.Equal(Enum.GetValues<Front>(), Shapes.All.Select(shape => shape.Front).Distinct().Order());
        Assert.Equal(
            Enum.GetValues<Credential>(), Shapes.All.Select(shape => shape.Credential).Distinct().Order());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(int.MaxValue)]
    public void A_seed_orders_all_shapes_after_the_killers_and_one_of_each_attack_before_a_second(int seed)
    {
        var order = Shapes.InOrderOf(seed);

        Assert.Equal(Shapes.Killers, order.Take(2).Select(shape => shape.Name));
        Assert.Equal(Shapes.All.ToHashSet(), order.ToHashSet());
        Assert.Equal(Shapes.All.Count, order.Count);
        Assert.Equal(
            Catalogue.All.Count,
            order.Skip(2).Take(Catalogue.All.Count).Select(shape => shape.Attack.Name).Distinct().Count());
        Assert.Equal(order, Shapes.InOrderOf(seed));
    }

    [Fact]
    public void Another_seed_has_another_order() => Assert.NotEqual(Shapes.InOrderOf(1), Shapes.InOrderOf(2));

    [Fact]
    public void The_page_about_misuse_says_what_each_attack_is()
    {
        var lines = File.ReadLines(Path.Combine(Repository.Root, "docs", "misuse.md")).ToHashSet();

        Assert.All(Catalogue.All, attack => Assert.Contains($"- **{attack.Name}**: {attack.What}", lines));
    }

    [Fact]
    public void A_name_means_one_shape_or_all_of_an_attack()
    {
        var all = MisuseOptions.Of(1, TimeSpan.FromMinutes(1), "body-unfinished");
        var one = MisuseOptions.Of(1, TimeSpan.FromMinutes(1), Shapes.Killers[1]);

        Assert.All(all.Shapes, shape => Assert.Equal("body-unfinished", shape.Attack.Name));
        Assert.True(all.Shapes.Count > 1);
        Assert.Equal([Shapes.Killers[1]], one.Shapes.Select(shape => shape.Name));
        Assert.Empty(Shapes.Named("body"));
    }
}
