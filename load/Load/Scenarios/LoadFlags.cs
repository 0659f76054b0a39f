using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Billing.Cli.Commands;

namespace Billing.Load.Scenarios;

/// <summary>The options that every load scenario has.</summary>
internal sealed class LoadFlags
{
    private const int ProxiesMax = 100;

    private static readonly string[] StackOptions =
        ["--payment-backends", "--balance-backends", "--brokers", "--jitter", "--kafka", "--postgres"];

    private readonly StackFlags _stack = new();
    private readonly Option<int> _accounts = Flags.Number("--accounts", "Accounts of each payment type that the calls go to", 2500, 1, 10_000_000);

    private readonly Option<TimeSpan> _warmUp = Duration("--warm-up", "Load before the measured one; 0 for none", TimeSpan.FromSeconds(5), TimeSpan.Zero);

    private readonly Option<string> _proxies = new("--proxies")
    {
        Description = "How many proxies the run's own stack has, or the addresses of proxies that run already",
        DefaultValueFactory = _ => "3",
        HelpName = "N|http://HOST:PORT,...",
    };

    private readonly Option<string?> _reportFolder = new("--report-folder")
    {
        Description = "Folder for the reports (txt, csv, html, md, and summary.json); reports/SCENARIO-TIME by default",
        HelpName = "FOLDER",
    };

    private readonly Option<double?>[] _thresholds =
    [
        Limit(Threshold.MaxErrorPercent, "The run fails if more of 100 calls fail", 100),
        Limit(Threshold.MaxP50Ms, "The run fails if the median latency is longer, in ms", 60_000),
        Limit(Threshold.MaxP99Ms, "The run fails if the 99th percentile of the latencies is longer, in ms", 60_000),
        Limit(Threshold.MinRps, "The run fails if fewer calls are answered a second", 1_000_000),
    ];

    public LoadFlags() => _proxies.Validators.Add(result =>
    {
        if (result.Tokens.Count > 0 && !IsNumber(result.Tokens[0].Value, out _) && !Addresses(result.Tokens[0].Value).All(IsAddress))
        {
            result.AddError($"--proxies must be within 1 and {ProxiesMax}, or addresses of the form http://HOST:PORT; it is '{result.Tokens[0].Value}'.");
        }
    });

    public void AddTo(Command command)
    {
        foreach (var option in new Option[] { _warmUp, _accounts, _proxies, _reportFolder }.Concat(_thresholds))
        {
            command.Add(option);
        }
        _stack.AddTo(command, countsProxies: false);
        command.Validators.Add(result =>
        {
            var proxies = result.GetResult(_proxies)?.Tokens is [var token, ..] ? token.Value : "3";
            var useless = result.Children.OfType<OptionResult>().FirstOrDefault(o => !o.Implicit && StackOptions.Contains(o.Option.Name));
            if (!IsNumber(proxies, out _) && useless is not null)
            {
                result.AddError($"{useless.Option.Name} is about a stack of the run's own; with addresses in --proxies there is none.");
            }
        });
    }

    /// <summary>The plan but for its shape.</summary>
    public LoadPlan Read(ParseResult parsed, string scenario, LoadShape shape, TimeProvider time)
    {
        var proxies = parsed.GetValue(_proxies)!;
        var isOwn = IsNumber(proxies, out var count);
        return new LoadPlan
        {
            Scenario = scenario,
            Shape = shape,
            WarmUp = parsed.GetValue(_warmUp),
            Accounts = parsed.GetValue(_accounts),
            Proxies = isOwn ? [] : Addresses(proxies),
            Stack = _stack.Read(parsed) with { Proxies = count },
            ReportFolder = parsed.GetValue(_reportFolder)
                ?? Path.Combine("reports", string.Create(CultureInfo.InvariantCulture, $"{scenario}-{time.GetUtcNow():yyyyMMdd-HHmmss}")),
            Thresholds = [.. _thresholds.Where(t => parsed.GetValue(t) is not null).Select(t => new Threshold(t.Name, parsed.GetValue(t)!.Value))],
        };
    }

    /// <summary>A time such as 500ms, 30s, 5m or 1h; a number alone is in seconds.</summary>
    public static Option<TimeSpan> Duration(string name, string description, TimeSpan fallback, TimeSpan min) => new(name)
    {
        Description = description,
        DefaultValueFactory = _ => fallback,
        HelpName = "30s|5m|1h",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (!TryParse(text, out var time) || time < min || time > TimeSpan.FromHours(24))
            {
                result.AddError($"{name} must be a time such as 30s, 5m or 1h, from {min.TotalSeconds:0}s to 24h; it is '{text}'.");
            }
            return time;
        },
    };

    private static Option<double?> Limit(string name, string description, double max) => new(name)
    {
        Description = description,
        HelpName = "X",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (!double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var value) || value is not >= 0 || value > max)
            {
                result.AddError($"{name} must be within 0 and {max}; it is '{text}'.");
            }
            return value;
        },
    };

    private static bool TryParse(string text, out TimeSpan time)
    {
        var number = text.TrimEnd('m', 's', 'h');
        var seconds = text[number.Length..] switch
        {
            "ms" => 0.001,
            "s" or "" => 1,
            "m" => 60,
            "h" => 3600,
            _ => 0,
        };
        var isTime = double.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var value)
            && seconds > 0 && value * seconds <= TimeSpan.FromHours(24).TotalSeconds;
        time = isTime ? TimeSpan.FromSeconds(value * seconds) : TimeSpan.Zero;
        return isTime;
    }

    private static bool IsNumber(string text, out int number) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number) && number is >= 1 and <= ProxiesMax;

    private static string[] Addresses(string text) => text.Split(',', StringSplitOptions.RemoveEmptyEntries);

    private static bool IsAddress(string text) => Uri.TryCreate(text, UriKind.Absolute, out var uri) && uri.Scheme is "http" or "https";
}
