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
    public void The_figures_of_a_side_combine_all_its_runs()
    {
        var side = Cell.Side(Protocols.Rpcx);
        Assert.Equal((100, 50, 150), (side.MeanMs, side.MinMs, side.MaxMs));
        Assert.Equal(10_000, side.CallsPerS, 6);
        Assert.Equal(1_000, side.PaperTps, 6);
        Assert.Equal(4_000, side.CallsPerCoreS, 6);
        Assert.Equal(2, Cell.Side(Protocols.Grpc).Errors);
    }

    [Fact]
    public void Sides_are_compared_as_in_the_paper()
    {
        Assert.Equal(75, Cell.LessTimePercent(Protocols.Grpc), 6);
        Assert.Equal(300, Cell.MoreTpsPercent(Protocols.Grpc), 6);
        Assert.Equal(4, Cell.CoreRatio(Protocols.Grpc)!.Value, 6);
        Assert.Equal(-100, Cell.LessTimePercent(Protocols.Rest), 6);
    }

    [Fact]
    public void Processor_time_below_the_resolution_gives_no_figure()
    {
        Assert.Equal(0, Cell.Side(Protocols.Rest).CallsPerCoreS);
        Assert.Null(Cell.CoreRatio(Protocols.Rest));
    }

    [Theory]
    [InlineData(0.1, true)]
    [InlineData(0.099, false)]
    public void A_cell_with_too_little_processor_time_is_left_out_of_the_headline(double cpuS, bool counts)
    {
        var comparison = ExampleResults.Rpc(cpuS: cpuS);
        var headline = RpcResult.Format.Page(comparison).Subtitle;

        Assert.Equal(counts, comparison.Cells[0].CoreRatio(Protocols.Grpc) is not null);
        Assert.Contains(counts ? "in 2 configurations)" : "in 1 configuration; 1 with less than 0.1 s left out)", headline, StringComparison.Ordinal);
    }

    [Fact]
    public void The_headline_states_its_conditions_and_the_ratio_under_fairer_conditions()
    {
        var headline = RpcResult.Format.Page(ExampleResults.Rpc()).Subtitle;

        Assert.Contains("with 1 connection, RPCX answering on the reading thread, servers with the platform's runtime settings", headline, StringComparison.Ordinal);
        Assert.EndsWith(
            "It makes 1.00 times as many with 8 connections, RPCX answering on the thread pool, servers with .NET's default runtime settings (990 callers with 100 requests each).",
            headline, StringComparison.Ordinal);
    }

    [Fact]
    public void Conditions_that_favour_one_side_are_changed_one_by_one_and_all_together() => Assert.Equal(
        [new(8), new(1, PoolDispatch: true), new(1, DefaultRuntime: true), new(8, true, true)], new RpcConditions(1).Others());

    [Fact]
    public void Conditions_that_already_apply_are_not_measured_again() => Assert.Equal(
        [new(16, PoolDispatch: true), new(16, DefaultRuntime: true), new(16, true, true)], new RpcConditions(16).Others());

    [Fact]
    public void An_answer_is_recognised_by_the_request_that_it_echoes()
    {
        var request = EchoMessages.Request(7);
        Assert.True(EchoMessages.IsAnswer(request, EchoMessages.Answer(request)));
        Assert.False(EchoMessages.IsAnswer(request, EchoMessages.Answer(EchoMessages.Request(8))));
    }
}
