using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Billing.Driver.Metering;

namespace Billing.Driver;

/// <summary>The command line of the load-generating client: like the billing prototype's, it sends all of its requests
/// at once, to the proxies in turn, and measures each request and the whole run.</summary>
internal static class ClientCommand
{
    public static RootCommand Create()
    {
        var proxies = new Option<string[]>("--proxies")
        {
            Description = "Addresses of the proxies, separated by commas, e.g. https://billing.example:5000",
            Required = true,
            CustomParser =
                result => [.. result.Tokens.SelectMany(t => t.Value.Split(',', StringSplitOptions.RemoveEmptyEntries))],
        };
        var ca = ExistingFile("--ca", "File of the authorities that sign the proxies' certificates, in PEM");
        var token = ExistingFile("--token-file", "File of the token that the proxies require");
        var requests = Number("--requests", "Number of payments, all sent at once", 5000, 0);
        var rate = Number(
            "--rate",
            "Payments per second, evenly spaced; 0 for all at once. "
                + "With --wait-for-go they end early when standard input is closed",
            0, 0, 100_000);
        var streams = Number(
            "--streams", "Number of streams that share the payments; 0 for one call per payment, all at once",
            0, 0, 1000);
        var balances = Number("--balances", "Number of balance checks, sent with the payments", 0, 0);
        var warmUp = Number("--warm-up", "Number of payments before the measured ones", 0, 0);
        var accounts = Number("--accounts", "Number of accounts of each payment type", 2500, 1);
        var otherCurrency = Number(
            "--other-currency", "Share of payments in euros instead of dollars, in percent", 0, 0, 100);
        var seed = Number("--seed", "Seed of the random accounts and amounts", 1, 0);
        var deadline = Number("--deadline", "Deadline of a request, in seconds", 120, 1);
        var journal =
            new Option<string?>("--journal") { Description = "File for the journal of payments and balances" };
        var report = new Option<string?>("--report") { Description = "File for the measurements, as JSON" };
        var waitForGo =
            new Option<bool>("--wait-for-go") { Description = "After the warm-up, wait for a line on standard input" };
        var command = new RootCommand("Sends payments and balance checks to the proxies and measures each.")
        {
            proxies, ca, token, requests, rate, streams, balances, warmUp, accounts, otherCurrency, seed,
            deadline, journal, report, waitForGo, Work(),
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(rate) > 0 && result.GetValue(balances) > 0)
            {
                result.AddError("--balances are sent at once and cannot be combined with --rate.");
            }
        });
        command.SetAction((parsed, cancellationToken) => RunAsync(
            new LoadSpec
            {
                Addresses = parsed.GetRequiredValue(proxies),
                CaFile = parsed.GetValue(ca),
                TokenFile = parsed.GetValue(token),
                Protocol = parsed.GetValue(streams) > 0 ? LoadProtocol.Stream : LoadProtocol.Sdk,
                Connections = Math.Max(1, parsed.GetValue(streams)),
                Shape = parsed.GetValue(rate) > 0 && parsed.GetValue(streams) == 0
                    ? LoadShape.Open.At(
                        parsed.GetValue(rate), parsed.GetValue(requests) / (double)parsed.GetValue(rate))
                    : new LoadShape.Burst(parsed.GetValue(requests), parsed.GetValue(balances)),
                WarmUp = LoadShape.WarmUpOf(parsed.GetValue(warmUp)),
                Accounts = parsed.GetValue(accounts),
                OtherCurrencyPercent = parsed.GetValue(otherCurrency),
                Seed = parsed.GetValue(seed),
                DeadlineS = parsed.GetValue(deadline),
                Journal = parsed.GetValue(journal),
            },
            parsed.GetValue(report), parsed.GetValue(waitForGo), cancellationToken));
        return command;
    }

    private static Command Work()
    {
        var spec = new Argument<string>("spec") { Description = "The load, as JSON" };
        var result = new Argument<string>("result") { Description = "The file for the results, as JSON" };
        var command =
            new Command("work", "Generates the load of a file, controlled over the standard streams.") { spec, result };
        command.SetAction((parsed, cancellationToken) =>
            Worker.RunAsync(parsed.GetRequiredValue(spec), parsed.GetRequiredValue(result), cancellationToken));
        return command;
    }

    private static Option<string?> ExistingFile(string name, string description)
    {
        var option = new Option<string?>(name) { Description = description };
        option.Validators.Add(result =>
        {
            if (result.Tokens is [var path, ..] && !File.Exists(path.Value))
            {
                result.AddError($"{name}: there is no file '{path.Value}'.");
            }
        });
        return option;
    }

    private static Option<int> Number(string name, string description, int fallback, int min, int max = int.MaxValue)
    {
        var option = new Option<int>(name) { Description = description, DefaultValueFactory = _ => fallback };
        option.Validators.Add(result =>
        {
            var value = result.Tokens.Count > 0 ? result.GetValueOrDefault<int>() : fallback;
            if (value < min)
            {
                result.AddError($"{name} must be at least {min}.");
            }
            else if (value > max)
            {
                result.AddError($"{name} must be at most {max}.");
            }
        });
        return option;
    }

    private static async Task<int> RunAsync(
        LoadSpec spec, string? report, bool waitsForGo, CancellationToken cancellationToken)
    {
        await using var driver = new LoadDriver(spec, TimeProvider.System);
        await driver.WarmUpAsync(cancellationToken);
        var result = await Worker.RunAsync(driver, waitsForGo, cancellationToken);
        Print(result);
        if (report is not null)
        {
            await using var file = File.Create(report);
            await JsonSerializer.SerializeAsync(file, result, LoadJson.Default.LoadResult, cancellationToken);
        }
        return 0;
    }

    private static void Print(LoadResult result)
    {
        var phase = result.Phases[0];
        foreach (var (kind, figures) in new[] { ("payments", phase.Payments), ("balances", phase.Balances) })
        {
            var errors = figures.Errors.Values.Sum();
            if (figures.Ok + figures.Declined + errors is > 0 and var count)
            {
                Console.WriteLine(string.Create(
                    CultureInfo.InvariantCulture,
                    $"{kind}: {count} requests, {Times(figures.Latencies)}, errors {errors}"));
            }
            if (figures.SinceStart.Count > 0)
            {
                Console.WriteLine($"  since the burst began: {Times(figures.SinceStart)}");
            }
            foreach (var (error, times) in figures.Errors)
            {
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {times} x {error}"));
            }
        }
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"total time {(result.EndedUnixUs - result.StartedUnixUs) / 1e6:0.000000} s, calls sent again "
                + $"{result.Retried}"));
    }

    private static string Times(IReadOnlyList<LatencyCount> latencies)
    {
        var figures = LatencyHistogram.FiguresOf([latencies]);
        return string.Create(CultureInfo.InvariantCulture,
            $"shortest {figures.MinMs / 1000:0.000} s, longest {figures.MaxMs / 1000:0.000} s, average "
                + $"{figures.MeanMs / 1000:0.000} s");
    }
}
