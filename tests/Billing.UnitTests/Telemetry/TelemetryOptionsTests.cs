using Billing.Hosting.Telemetry;

namespace Billing.UnitTests.Telemetry;

public sealed class TelemetryOptionsTests
{
    [Fact]
    public void The_defaults_are_valid() => Assert.Empty(new TelemetryOptions().ValidationErrors());

    [Theory]
    [InlineData(
        "localhost:4317", "grpc",
        "Billing:Telemetry:OtlpEndpoint: 'localhost:4317' is not of the form http://host:port.")]
    [InlineData(
        "ftp://collector", "grpc",
        "Billing:Telemetry:OtlpEndpoint: 'ftp://collector' is not of the form http://host:port.")]
    [InlineData(
        "http://collector:4317", "http", "Billing:Telemetry:OtlpProtocol must be grpc or http/protobuf; it is 'http'.")]
    public void An_invalid_setting_is_reported(string endpoint, string protocol, string problem) =>
        Assert.Equal(
            [problem], new TelemetryOptions { OtlpEndpoint = endpoint, OtlpProtocol = protocol }.ValidationErrors());

    [Theory]
    [InlineData("sum by (a, b) (rate(x_total{c=\"by (d)\"}[1m])) > 0.5", "x_total")]
    [InlineData("histogram_quantile(0.99, sum by (le) (rate(y_bucket[5m])))", "y_bucket")]
    [InlineData("a:b:c / on (instance) group_left (tier) d offset 10m unless e", "a:b:c d e")]
    [InlineData("z > 1.5e9", "z")]
    public void The_metrics_of_an_expression_are_found(string expression, string metrics) =>
        Assert.Equal(metrics.Split(' '), PromQl.Metrics(expression));
}
