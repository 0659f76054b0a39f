using System.Text;

namespace Billing.IntegrationTests.Services;

/// <summary>Separates the standard error of a program that runs in this process from that of
/// concurrent tests.</summary>
internal sealed class ErrorOutput : TextWriter
{
    private static readonly AsyncLocal<StringWriter?> Captured = new();

    private readonly TextWriter _others;

    static ErrorOutput() => Console.SetError(Synchronized(new ErrorOutput(Console.Error)));

    private ErrorOutput(TextWriter others) => _others = others;

    public override Encoding Encoding => _others.Encoding;

    /// <summary>Captures the standard error of the caller, and of the tasks that it starts, from now on.</summary>
    public static StringWriter Capture() => Captured.Value = new StringWriter();

    public override void Write(char value) => (Captured.Value ?? _others).Write(value);

    public override void Write(string? value) => (Captured.Value ?? _others).Write(value);
}
