using System.CommandLine;
using System.Globalization;
using System.Text.Json;

namespace Billing.LoadClient;

/// <summary>The load-generating client's command line.</summary>
internal static class LoadCommand
{
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);

    public static RootCommand Create()
    {
        var proxies = new Option<string[]>("--proxies")
        {
            Description = "Addresses of the proxies, separated by commas, e.g. http://localhost:5000",
            Required = true,
            CustomParser = result => [.. result.Tokens.SelectMany(t => t.Value.Split(',', StringSplitOptions.RemoveEmptyEntries))],
        };
        var requests = Number("--requests", "Number of payments, all sent at once", 5000, 0);
        var rate = Number(
            "--rate", "Payments per second, evenly spaced; 0 for all at once. With --wait-for-go they end early when standard input is closed", 0, 0, 100_000);
        var streams = Number("--streams", "Number of streams that share the payments; 0 for one call per payment, all at once", 0, 0, 1000);
        var balances = Number("--balances", "Number of balance checks, sent with the payments", 0, 0);
        var warmUp = Number("--warm-up", "Number of payments before the measured ones", 0, 0);
        var accounts = Number("--accounts", "Number of accounts of each payment type", 2500, 1);
        var otherCurrency = Number("--other-currency", "Share of payments in euros instead of dollars, in percent", 0, 0, 100);
        var seed = Number("--seed", "Seed of the random accounts and amounts", 1, 0);
        var deadline = Number("--deadline", "Deadline of a request, in seconds", 120, 1);
        var journal = new Option<string?>("--journal") { Description = "File for the journal of payments and balances" };
        var report = new Option<string?>("--report") { Description = "File for the measurements, as JSON" };
        var waitForGo = new Option<bool>("--wait-for-go") { Description = "After the warm-up, wait for a line on standard input" };
        var command = new RootCommand("Sends payments and balance checks to the proxies and measures each.")
        {
            proxies, requests, rate, streams, balances, warmUp, accounts, otherCurrency, seed, deadline, journal, report, waitForGo,
        };
        command.SetAction((parsed, cancellationToken) => RunAsync(
            new LoadOptions
            {
                Proxies = parsed.GetRequiredValue(proxies),
                Requests = parsed.GetValue(requests),
                Rate = parsed.GetValue(rate),
                Streams = parsed.GetValue(streams),
                Balances = parsed.GetValue(balances),
                WarmUp = parsed.GetValue(warmUp),
                Accounts = parsed.GetValue(accounts),
                OtherCurrencyPercent = parsed.GetValue(otherCurrency),
                Seed = parsed.GetValue(seed),
                Deadline = TimeSpan.FromSeconds(parsed.GetValue(deadline)),
                Journal = parsed.GetValue(journal),
                Report = parsed.GetValue(report),
                WaitForGo = parsed.GetValue(waitForGo),
            },
            cancellationToken));
        return command;
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

    private static async Task<int> RunAsync(LoadOptions options, CancellationToken cancellationToken)
    {
        await using var generator = new LoadGenerator(options, TimeProvider.System);
        await generator.WarmUpAsync(cancellationToken);
        // Not disposed of: the thread that waits for the end of the input may outlive this call, until the process ends.
        var enough = new CancellationTokenSource();
        if (options.WaitForGo)
        {
            Console.WriteLine("ready");
            await Console.In.ReadLineAsync(cancellationToken);
            // On a separate thread: the console's reader blocks its thread, even in asynchronous methods.
            _ = Task.Run(() => CancelAtEndOfInput(enough), CancellationToken.None);
        }
        var running = generator.RunAsync(enough.Token, cancellationToken);
        while (await Task.WhenAny(running, Task.Delay(ProgressInterval, cancellationToken)) != running)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"done {generator.Done}"));
        }
        var result = await running;
        Print(result);
        if (options.Report is { } path)
        {
            await using var file = File.Create(path);
            await JsonSerializer.SerializeAsync(file, result, LoadJson.Default.LoadResult, cancellationToken);
        }
        return 0;
    }

    private static void CancelAtEndOfInput(CancellationTokenSource enough)
    {
        while (Console.In.ReadLine() is not null)
        {
        }
        enough.Cancel();
    }

    private static void Print(LoadResult result)
    {
        foreach (var (kind, figures) in new[] { ("payments", result.Payments), ("balances", result.Balances) })
        {
            var errors = figures.Errors.Values.Sum();
            if (figures.LatenciesUs.Count + errors is > 0 and var count)
            {
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{kind}: {count} requests, {Times(figures.LatenciesUs)}, errors {errors}"));
            }
            if (figures.SinceStartUs.Count > 0)
            {
                Console.WriteLine($"  since the burst began: {Times(figures.SinceStartUs)}");
            }
            foreach (var (error, times) in figures.Errors)
            {
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {times} x {error}"));
            }
        }
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"total time {(result.EndedUnixUs - result.StartedUnixUs) / 1e6:0.000000} s, calls sent again {result.Retried}"));
    }

    private static string Times(IReadOnlyList<long> latenciesUs)
    {
        var seconds = latenciesUs.Select(us => us / 1e6).DefaultIfEmpty().ToList();
        return string.Create(CultureInfo.InvariantCulture,
            $"shortest {seconds.Min():0.000000} s, longest {seconds.Max():0.000000} s, average {seconds.Average():0.000000} s");
    }
}
