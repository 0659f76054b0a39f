using System.Diagnostics;
using System.Text;
using Billing.Contracts;
using Billing.IntegrationTests.Services;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Confluent.Kafka;
using Grpc.Core;

namespace Billing.IntegrationTests.Telemetry;

/// <summary>The metrics that the services of a stack expose on <c>/metrics</c> after calls of every kind.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class ExposedMetrics(KafkaStack stack)
{
    // Of Prometheus itself, and of proxies with TLS and tokens (SecuredServers).
    private static readonly string[] Others =
        ["up", "ALERTS", "billing_tls_validity_seconds", "billing_auth_keys_age_seconds"];

    [Fact]
    public async Task Every_metric_of_a_rule_or_a_panel_is_exposed_by_a_service()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        await GenerateActivityAsync();
        var exposed = await OtlpReceiver.WaitAsync(
            ScrapeAsync, scraped => Unknown(scraped, Named()).Count == 0,
            scraped => "no service exposes " + string.Join(", ", Unknown(scraped, Named())));

        Assert.True(Named().Count > 20);
        Assert.Equal(
            ["billing_dead_leters_total"],
            Unknown(exposed, ["billing_dead_leters_total", "billing_dead_letters_total"]));
    }

    [Fact]
    public async Task A_call_that_is_rejected_before_it_reaches_its_service_is_counted()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var invalid = StackFixture.Payment();
        invalid.AccountId = "";
        await Assert.ThrowsAsync<RpcException>(async () => await stack.Proxy().MakePaymentAsync(invalid));
        await Assert.ThrowsAsync<RpcException>(async () => await stack.Proxy().MakePaymentAsync(
            StackFixture.Payment(), new Grpc.Core.Metadata { { RequestHeaders.SentAt, "yesterday" } }));

        // A call is counted when its request ends, which may be after the caller has received the answer.
        await OtlpReceiver.WaitAsync(
            ScrapeAsync, scraped => scraped.Any(IsCount), _ => "no series counts the rejected calls");

        static bool IsCount(string series) =>
            series.StartsWith("rpc_server_call_duration_seconds_count{", StringComparison.Ordinal)
            && series.Contains("rpc_response_status_code=\"INVALID_ARGUMENT\"", StringComparison.Ordinal)
            && series.Contains("rpc_method=\"billing.v1.BillingService/MakePayment\"", StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_call_over_REST_is_counted_with_the_route_and_the_status_that_the_rules_look_for()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        using var http = new HttpClient { BaseAddress = new Uri(stack.Stack.RestAddresses[0]) };
        using var answer = await http.GetAsync(
            new Uri("/v1/accounts/VISA/a%20b/balance", UriKind.Relative), TestContext.Current.CancellationToken);

        Assert.Equal(System.Net.HttpStatusCode.BadRequest, answer.StatusCode);
        await OtlpReceiver.WaitAsync(
            ScrapeAsync, scraped => scraped.Any(
                series => series.StartsWith("http_server_request_duration_seconds_count{", StringComparison.Ordinal)
                    && series.Contains("http_route=\"/v1/", StringComparison.Ordinal)
                    && series.Contains("http_response_status_code=\"400\"", StringComparison.Ordinal)),
            _ => "no series counts the call");
    }

    [Fact]
    public async Task Promtool_finds_no_problem_in_the_platforms_own_metrics()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var promtool = Environment.GetEnvironmentVariable("BILLING_PROMETHEUS_BIN") is { Length: > 0 } folder
            ? Path.Combine(folder, "promtool")
            : (Environment.GetEnvironmentVariable("PATH")
                ?? "").Split(':').Select(f => Path.Combine(f, "promtool")).FirstOrDefault(File.Exists);
        Assert.SkipWhen(
            promtool is null, "promtool is neither in the folder of BILLING_PROMETHEUS_BIN nor on the PATH");
        await stack.Proxy().MakePaymentAsync(StackFixture.Payment());

        foreach (var service in stack.Stack.Services)
        {
            var output = await CheckAsync(promtool!, await TextAsync(service));
            Assert.DoesNotContain(output, line => line.StartsWith("billing_", StringComparison.Ordinal)
                || line.StartsWith("rpc_", StringComparison.Ordinal)
                || line.StartsWith("messaging_", StringComparison.Ordinal)
                || line.Contains("error", StringComparison.Ordinal));
        }
        Assert.NotEmpty(await CheckAsync(promtool!, "billing_planted_total 1\n# TYPE billing_planted_total gauge\n"));
    }

    [Fact]
    public async Task The_log_line_about_a_dead_letter_has_the_trace_id_of_the_record()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        const string Trace = "5bd66ef5095369c7b0d1f8f4bd33716a";

        await ProduceAsync(Topics.Payments(PaymentType.Visa), $"00-{Trace}-00f067aa0ba902b7-01");

        var lines = await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.LogLines.Where(line => line.TraceId == Trace).ToList(), found => found.Count > 0,
            _ => "no line has the trace id");
        Assert.Contains(lines, line => line.Service == "billing-backend"
            && line.Text.Contains(Topics.Payments(PaymentType.Visa), StringComparison.Ordinal));
    }

    private static List<string> Unknown(List<string> exposed, IEnumerable<string> named)
    {
        var names = exposed.Select(series => series.Split('{', ' ')[0]).Concat(Recorded()).Concat(Others)
            .ToHashSet(StringComparer.Ordinal);
        return [.. named.Where(name => !names.Contains(name))];
    }

    private static List<string> Named() =>
    [
        .. Repository.Files("deploy/monitoring/prometheus/rules", "*.yml").SelectMany(RuleExpressions)
            .Concat(PromQl.OfDashboard(
                File.ReadAllText(Path.Combine(Repository.Root, "deploy/monitoring/grafana/billing.json"))))
            .SelectMany(PromQl.Metrics).Distinct(),
        // Nobody watches it; it is measured on request.
        "billing_kafka_client_wait_seconds",
    ];

    private static IEnumerable<string> Recorded() =>
        from file in Repository.Files("deploy/monitoring/prometheus/rules", "*.yml")
        from line in Repository.Lines(file)
        where line.Trim().StartsWith("- record: ", StringComparison.Ordinal)
        select line.Trim()["- record: ".Length..];

    // A rule's expression is on the line of the key, or on the following lines with a deeper indentation.
    private static IEnumerable<string> RuleExpressions(string file)
    {
        var lines = Repository.Lines(file);
        for (var i = 0; i < lines.Length; i++)
        {
            var indent = lines[i].Length - lines[i].TrimStart().Length;
            if (lines[i].TrimStart().StartsWith("expr: ", StringComparison.Ordinal))
            {
                var rest = lines.Skip(i + 1).TakeWhile(line => line.Length - line.TrimStart().Length > indent);
                var first = lines[i].TrimStart()["expr: ".Length..];
                yield return first == "|" ? string.Join('\n', rest) : first;
            }
        }
    }

    private async Task GenerateActivityAsync()
    {
        var proxy = stack.Proxy();
        var payment = StackFixture.Payment();
        var paid = await proxy.MakePaymentAsync(payment);
        await proxy.MakePaymentAsync(payment);
        await proxy.CheckBalanceAsync(new CheckBalanceRequest
        {
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            MinVersion = paid.Version,
        });
        using var stream = proxy.MakePayments();
        await stream.RequestStream.WriteAsync(payment);
        await stream.RequestStream.CompleteAsync();
        while (await stream.ResponseStream.MoveNext(CancellationToken.None))
        {
            Assert.Equal(payment.TransactionId, stream.ResponseStream.Current.TransactionId);
        }
        using var http = new HttpClient { BaseAddress = new Uri(stack.Stack.RestAddresses[0]) };
        await http.GetStringAsync(new Uri($"/v1/accounts/VISA/{payment.AccountId}/balance", UriKind.Relative));
        await ProduceAsync(Topics.Payments(PaymentType.Visa), traceParent: null);
    }

    private async Task ProduceAsync(string topic, string? traceParent)
    {
        using var producer = KafkaClients.Producer<string, byte[]>(
            new ProducerConfig { BootstrapServers = stack.Stack.BootstrapServers });
        var record =
            new Message<string, byte[]> { Key = "garbage", Value = "this is nothing"u8.ToArray(), Headers = [] };
        record.Headers.Add("billing-wire", "1"u8.ToArray());
        if (traceParent is not null)
        {
            record.Headers.Add("traceparent", Encoding.ASCII.GetBytes(traceParent));
        }
        await producer.ProduceAsync(topic, record);
    }

    private async Task<List<string>> ScrapeAsync()
    {
        var series = new List<string>();
        foreach (var service in stack.Stack.Services)
        {
            series.AddRange((await TextAsync(service)).Split('\n').Where(line => line.Length > 0 && line[0] != '#'));
        }
        return series;
    }

    private static async Task<string> TextAsync(LocalStack.ServiceProcess service)
    {
        using var http = new HttpClient { BaseAddress = new Uri(service.RestAddress ?? service.Address) };
        return await http.GetStringAsync(new Uri("/metrics", UriKind.Relative));
    }

    private static async Task<string[]> CheckAsync(string promtool, string text)
    {
        using var process = Process.Start(new ProcessStartInfo(promtool, ["check", "metrics"])
        {
            RedirectStandardInput = true,
            RedirectStandardError = true,
            RedirectStandardOutput = true,
        })!;
        await process.StandardInput.WriteAsync(text);
        process.StandardInput.Close();
        var output = await process.StandardError.ReadToEndAsync() + await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }
}
