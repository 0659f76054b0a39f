using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Measuring;
using Billing.Rehearsal.Network;
using Billing.Rehearsal.Steps;

namespace Billing.Rehearsal;

/// <summary>What a rehearsal measured and found, as JSON; the names are part of the interface.</summary>
internal sealed class RehearsalReport
{
    private static readonly JsonSerializerOptions Form = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        WriteIndented = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
    };

    /// <summary>What it ran on.</summary>
    public required Machine Machine { get; init; }

    /// <summary>The release that was installed first.</summary>
    public string Release { get; set; } = "";

    /// <summary>The release that it was upgraded to.</summary>
    public string NextRelease { get; set; } = "";

    /// <summary>How long a packet took from zone to zone, in milliseconds.</summary>
    public required double ZoneDelayMs { get; init; }

    /// <summary>Payments that each client sent at once.</summary>
    public required int Requests { get; init; }

    /// <summary>Where the prototype's figures are from, which are printed beside the bursts.</summary>
    public Source Source { get; init; } = Sources.Prototype;

    /// <summary>What was tried between machines.</summary>
    public AccessFindings? Access { get; set; }

    /// <summary>What the clients measured, run by run.</summary>
    public List<LoadRun> Runs { get; } = [];

    /// <summary>What each service took, after the first burst.</summary>
    public List<MemoryUse> Memory { get; } = [];

    /// <summary>The audit's counts, as printed.</summary>
    public string Audit { get; set; } = "";

    /// <summary>How long each step took.</summary>
    public List<StepTime> Steps { get; } = [];

    /// <summary>What should not be.</summary>
    public List<string> Amiss { get; } = [];

    /// <summary>Writes it to a file.</summary>
    public async Task WriteAsync(string path)
    {
        await using var file = File.Create(path);
        await JsonSerializer.SerializeAsync(file, this, Form);
    }
}

/// <summary>How long a step took.</summary>
internal sealed record StepTime(string Step, double Seconds);
