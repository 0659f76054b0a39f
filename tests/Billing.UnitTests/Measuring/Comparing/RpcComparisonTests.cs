using Billing.Measuring;
using Billing.Measuring.Comparing.Rpc;

namespace Billing.UnitTests.Measuring.Comparing;

public sealed class RpcComparisonTests
{
    private static readonly RpcCell Cell = new(10, 100,
    [
        RpcSide.Of(Protocols.Rpcx, 100, [new RpcRun(50, 1_000, 0, 0.2, 0.05), new RpcRun(150, 1_000, 0, 0.2, 0.05)]),
        RpcSide.Of(Protocols.Grpc, 100, [new RpcRun(400, 1_000, 2, 0.5, 0.5)]),
        RpcSide.Of(Protocols.Rest, 100, [new RpcRun(50, 1_000, 0, 0, 0)]),
    ]);

    [Fact]
    public void A_sides_figures_are_those_of_all_its_runs()
    {
        var side = Cell.Side(Protocols.Rpcx);
        Assert.Equal((100, 50, 150), (side.MeanMs, side.MinMs, side.MaxMs));
        Assert.Equal(10_000, side.CallsPerS, 6);
        Assert.Equal(1_000, side.PaperTps, 6);
        Assert.Equal(4_000, side.CallsPerCoreS, 6);
        Assert.Equal(2, Cell.Side(Protocols.Grpc).Errors);
    }

    [Fact]
    public void Sides_are_compared_as_the_paper_does()
    {
        Assert.Equal(75, Cell.LessTimePercent(Protocols.Grpc), 6);
        Assert.Equal(300, Cell.MoreTpsPercent(Protocols.Grpc), 6);
        Assert.Equal(4, Cell.CoreRatio(Protocols.Grpc), 6);
        Assert.Equal(-100, Cell.LessTimePercent(Protocols.Rest), 6);
    }

    [Fact]
    public void Processor_time_too_short_to_be_counted_makes_no_figure() =>
        Assert.Equal(0, Cell.Side(Protocols.Rest).CallsPerCoreS);

    [Fact]
    public void An_answer_is_known_by_what_it_repeats()
    {
        var request = EchoMessages.Request(7);
        Assert.True(EchoMessages.IsAnswer(request, EchoMessages.Answer(request)));
        Assert.False(EchoMessages.IsAnswer(request, EchoMessages.Answer(EchoMessages.Request(8))));
    }
}
